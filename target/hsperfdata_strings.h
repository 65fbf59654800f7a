// The few strings of a JVM's hsperfdata that tell what it is. (All counters: perfdata/, which stands above this
// folder.) Layout: src/hotspot/share/runtime/perfMemory.hpp (PerfDataPrologue, PerfDataEntry), unchanged from JDK 8
// to 27. Pure functions over bytes that anybody may have written: any input is safe. Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace jtrace::target {

// Every string entry by name, for example "java.property.java.version", "sun.rt.javaCommand", "sun.rt.jvmCapabilities".
// Empty where the bytes are not hsperfdata.
std::map<std::string, std::string> hsperfdata_strings(std::span<const std::byte> bytes);

}  // namespace jtrace::target
