#include "target/socket_call.h"

#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "target/hex_word.h"

namespace jtrace::target {
namespace {

constexpr std::array kOfOne = {SYS_read,   SYS_readv,  SYS_recvfrom, SYS_recvmsg, SYS_write,
                               SYS_writev, SYS_sendto, SYS_sendmsg,  SYS_connect};
#ifdef SYS_poll
constexpr std::array kPolls = {SYS_poll, SYS_ppoll};
#else
constexpr std::array kPolls = {SYS_ppoll};
#endif

template <class Calls>
bool is_one_of(std::uint64_t call, const Calls& calls) {
  return std::any_of(calls.begin(), calls.end(),
                     [call](auto each) { return static_cast<std::uint64_t>(each) == call; });
}

}  // namespace

// "NUMBER ARGUMENT... SP PC".
std::optional<int> descriptor_of_syscall(std::string_view text, const MemoryReader& memory) {
  const auto words = split(trimmed(text), ' ');
  const auto call = words.size() == 9 ? parse_decimal<std::uint64_t>(words[0]) : std::nullopt;
  if (!call) return std::nullopt;
  const auto first = parse_hex_word(words[1]), second = parse_hex_word(words[2]);
  if (!first || !second) return std::nullopt;
  if (is_one_of(*call, kOfOne)) return static_cast<int>(*first);
  if (!is_one_of(*call, kPolls) || *second != 1) return std::nullopt;
  const auto polled = memory.read<pollfd>(*first);
  return polled ? std::optional(polled->fd) : std::nullopt;
}

}  // namespace jtrace::target
