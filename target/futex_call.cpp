#include "target/futex_call.h"

#include <linux/futex.h>

#include <vector>

#include "base/strings.h"
#include "target/hex_word.h"

namespace jtrace::target {
bool FutexCall::is_plain_wait() const { return (operation & ~std::uint32_t{FUTEX_PRIVATE_FLAG}) == FUTEX_WAIT; }

// "NUMBER ARGUMENT... SP PC".
std::optional<FutexCall> futex_of_syscall(std::string_view text) {
  const auto words = split(trimmed(text), ' ');
  if (words.size() != 9 || parse_decimal<std::uint64_t>(words[0]) != traits_of(kNativeIsa).futex) return std::nullopt;
  const auto word = parse_hex_word(words[1]), operation = parse_hex_word(words[2]), value = parse_hex_word(words[3]);
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
