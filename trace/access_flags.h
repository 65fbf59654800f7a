// Access flags of classes and methods as in class files (JVMS tables 4.1-B, 4.6-A), and their words in trace.dtd. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace jtrace::trace {

inline constexpr std::uint32_t kPublic = 0x0001, kPrivate = 0x0002, kProtected = 0x0004, kStatic = 0x0008,
                               kSynchronized = 0x0020, kNative = 0x0100, kAbstract = 0x0400;

inline std::string_view access_word(std::uint32_t flags) {
  if (flags & kPublic) return "public";
  if (flags & kProtected) return "protected";
  if (flags & kPrivate) return "private";
  return "package";
}

}  // namespace jtrace::trace
