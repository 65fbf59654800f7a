#include "sampling/split_waits.h"

namespace jtrace::sampling {
namespace {

// The thread looks at the monitor and parks again. Who entered it needs longer until it waits for it once more.
constexpr std::uint64_t kLongestLook = 100'000;  // ns

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kFactor = 8, kLongestInterval = 1000 * kMillisecond;

bool is_interval(std::uint64_t length) {
  std::uint64_t interval = kMillisecond;
  for (std::uint64_t next = interval; next <= kLongestInterval && next <= length; next *= kFactor) interval = next;
  if (length >= kLongestInterval) interval = kLongestInterval;
  // A timer is never early; the processor may be late.
  return length >= interval && length - interval <= 3 * kMillisecond / 10 + interval / 20;
}

}  // namespace

bool SplitWaits::may_go_on(const Wait& wait, WaitKind kind) {
  if (kind != WaitKind::kMonitor || wait.at == nullptr || wait.still) return false;
  return wait.waker == nullptr ? is_interval(wait.length()) : *wait.waker == kInterrupt;
}

EarlierPart SplitWaits::earlier_part(const Wait& wait, WaitKind kind, const std::string& owner) {
  const auto found = parts_.find(wait.tid);
  const bool is_next =
      found != parts_.end() && wait.begin >= found->second.end && wait.begin - found->second.end <= kLongestLook;
  if (is_next && wait.preempted) {
    found->second.end = wait.end;
    return {};
  }
  const bool is_same =
      is_next && kind == WaitKind::kMonitor && wait.at != nullptr && wait.at->registers.sp() == found->second.sp;
  const EarlierPart earlier = is_same ? found->second.all : EarlierPart{};
  if (may_go_on(wait, kind))
    parts_[wait.tid] = {wait.end, wait.at->registers.sp(), {earlier.ns + wait.length(), owner}};
  else if (found != parts_.end()) parts_.erase(found);
  return earlier;
}

}  // namespace jtrace::sampling
