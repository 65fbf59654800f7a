// Which methods of the JDK wait for a socket or a file: a call of one is time in I/O, if the trace has it. Pure.
//
// Source: the JDK's own sources, 8 to 27: those through which streams and channels read, write and connect; and the
// native methods below them, for traces that have these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace::trace::io {

enum class IoKind : std::uint8_t { kNone, kSocket, kFile };
// `type` in internal form: java/io/FileInputStream.
IoKind io_kind(std::string_view type, std::string_view method);
// "java.io.FileInputStream read include": filter rules for the methods that have bytecode.
std::vector<std::string> io_filters();

}  // namespace jtrace::trace::io
