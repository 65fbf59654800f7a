// The path to which a JVM's attach listener is bound, from the kernel: it gives the directory, whatever flag or build
// of HotSpot chose it, also if the file was deleted. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "target/process.h"

namespace jtrace::attach {

// The path, as given to bind(2), of a listening socket of the process named `socket_name` or, before HotSpot's rename,
// `socket_name`.tmp; without the suffix. Nothing if there is none, or if it may not be read.
std::optional<std::string> bound_socket(const target::Process& process, std::string_view socket_name);

}  // namespace jtrace::attach
