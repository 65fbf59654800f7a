// The strings of a JVM's hsperfdata that identify it. (perfdata/, a folder above this one, reads all counters.) Layout:
// src/hotspot/share/runtime/perfMemory.hpp (PerfDataPrologue, PerfDataEntry), unchanged from JDK 8 to 27. Pure
// functions over bytes that anybody may have written: any input is safe. Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace jtrace::target {

// Every string entry by name, for example "java.property.java.version", "sun.rt.javaCommand", "sun.rt.jvmCapabilities".
// Empty if the bytes are not hsperfdata.
std::map<std::string, std::string> hsperfdata_strings(std::span<const std::byte> bytes);

}  // namespace jtrace::target
