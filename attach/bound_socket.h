// Where a JVM's attach listener is bound, as the kernel knows it: the name tells the directory, whatever flag or build
// of HotSpot chose it, and stays known when the file is gone. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "target/process.h"

namespace jtrace::attach {

// The path, as the process gave it to bind(2), of a listening socket of its own named `socket_name` or, before
// HotSpot's rename, `socket_name`.tmp: without the suffix. None where there is none, or we may not look.
std::optional<std::string> bound_socket(const target::Process& process, std::string_view socket_name);

}  // namespace jtrace::attach
