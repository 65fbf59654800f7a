// A word of /proc that is a hexadecimal number with 0x (proc_pid_syscall(5)). Pure; any thread.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace jtrace::target {

inline std::optional<std::uint64_t> parse_hex_word(std::string_view word) {
  std::uint64_t value = 0;
  if (!word.starts_with("0x")) return std::nullopt;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), value, 16);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

}  // namespace jtrace::target
