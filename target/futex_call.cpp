#include "target/futex_call.h"

#include <linux/futex.h>

#include <charconv>
#include <vector>

#include "base/strings.h"

namespace jtrace::target {
namespace {

std::optional<std::uint64_t> hexadecimal(std::string_view word) {
  std::uint64_t value = 0;
  if (!word.starts_with("0x")) return std::nullopt;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), value, 16);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

bool FutexCall::is_plain_wait() const { return (operation & ~std::uint32_t{FUTEX_PRIVATE_FLAG}) == FUTEX_WAIT; }

// "NUMBER ARGUMENT... SP PC".
std::optional<FutexCall> futex_of_syscall(std::string_view text) {
  const auto words = split(trimmed(text), ' ');
  if (words.size() != 9 || parse_decimal<std::uint64_t>(words[0]) != traits_of(kNativeIsa).futex) return std::nullopt;
  const auto word = hexadecimal(words[1]), operation = hexadecimal(words[2]), value = hexadecimal(words[3]);
  if (!word || !operation || !value) return std::nullopt;
  return FutexCall{*word, static_cast<std::uint32_t>(*operation), static_cast<std::uint32_t>(*value)};
}

std::optional<FutexCall> futex_of_registers(const Registers& registers) {
  const IsaTraits& traits = registers.traits();
  if (registers.words[traits.syscall] != traits.futex) return std::nullopt;
  const auto argument = [&](std::size_t index) { return registers.words[traits.arguments[index]]; };
  return FutexCall{argument(0), static_cast<std::uint32_t>(argument(1)), static_cast<std::uint32_t>(argument(2))};
}

}  // namespace jtrace::target
