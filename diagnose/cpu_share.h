// The share of the time between two samples in which a thread ran, or was ready to run. Pure functions, any thread.
#pragma once

#include <algorithm>
#include <optional>

#include "diagnose/facts.h"

namespace jtrace::diagnose {

// The share, on a processor or ready for one, from which a thread counts as never waiting. It is below 1, because the
// kernel counts the time of waiting for a processor only when the wait is over.
inline constexpr double kWholeProcessor = 0.85;

// The same for the VM Thread, which waits between two operations until a thread asks for the next.
inline constexpr double kMostOfProcessor = 0.7;

struct CpuShare {
  double ran = 0, queued = 0;
  double wanted() const { return ran + queued; }
};

// `stopped`: time between the two in which no thread ran. Nothing if the kernel does not have the figures.
inline std::optional<CpuShare> share_between(const ThreadFact& then, const ThreadFact& now,
                                             std::chrono::nanoseconds stopped) {
  if (!then.ran_ns || !now.ran_ns) return std::nullopt;
  const double elapsed = static_cast<double>(now.measured_ns) - static_cast<double>(then.measured_ns) -
                         static_cast<double>(stopped.count());
  if (elapsed <= 0) return std::nullopt;
  const auto grown = [&](std::optional<std::uint64_t> from, std::optional<std::uint64_t> to) {
    return from && to && *to > *from ? static_cast<double>(*to - *from) / elapsed : 0.0;
  };
  return CpuShare{.ran = grown(then.ran_ns, now.ran_ns), .queued = grown(then.queued_ns, now.queued_ns)};
}

// Nothing if the thread is new, too.
inline std::optional<CpuShare> share_between(const ThreadsLook& before, const ThreadsLook& now, ThreadKey key) {
  const ThreadFact* then = before.find(key);
  const ThreadFact* thread = now.find(key);
  return then && thread ? share_between(*then, *thread, now.stopped) : std::nullopt;
}

// Whether it did not wait for anything between the two. On a machine with too few processors the time in which a thread
// was ready is not all known yet; but the kernel counts each wait, and the stops for stacks are known.
inline bool never_waits(const ThreadFact& then, const ThreadFact& now, const ThreadsLook& look) {
  constexpr double kKnown = 0.2;  // of the time, for which it is known that it was ready
  const auto share = share_between(then, now, look.stopped);
  if (!share) return false;
  if (share->wanted() >= kWholeProcessor) return true;
  const std::uint64_t of_stops = look.stops + 1;  // one may have been read too early
  return share->wanted() >= kKnown && share->ran > 0 && then.waits && now.waits && *now.waits <= *then.waits + of_stops;
}

// The same by the kernel's id, for threads of the VM, which have no key.
inline std::optional<CpuShare> share_of_thread(const ThreadsLook& before, const ThreadsLook& now, pid_t tid) {
  const ThreadFact* then = before.find_tid(tid);
  const ThreadFact* thread = now.find_tid(tid);
  return then && thread ? share_between(*then, *thread, now.stopped) : std::nullopt;
}

// How often the kernel has counted a wait of this thread from the first look to the last. Nothing: it does not say, as
// of virtual threads.
inline std::optional<std::uint64_t> counted_waits(const Facts& facts, ThreadKey key) {
  const ThreadFact *then = facts.looks.front().find(key), *now = facts.looks.back().find(key);
  if (!then || !now || now->is_virtual || !then->waits || !now->waits || *now->waits < *then->waits)
    return std::nullopt;
  return *now->waits - *then->waits;
}

// How many of these the stops make: a thread that waits is stopped, and waits again afterwards. Where a stop had to be
// tried again, it is what threads have at least that wait, among them some of the JDK's that idle.
inline std::uint64_t waits_of_stops(const Facts& facts) {
  const std::uint64_t known = 2 * (facts.looks.size() - 1);
  std::optional<std::uint64_t> least;
  for (const ThreadFact& each : facts.looks.back().threads) {
    const bool may_idle = each.key != 0 && !each.is_virtual && each.state != "RUNNABLE";
    const auto grown = may_idle ? counted_waits(facts, each.key) : std::nullopt;
    if (grown) least = std::min(least.value_or(*grown), *grown);
  }
  return std::max(known, least.value_or(0));
}

// How often a thread has begun to wait since the first look, without the stops: `of_stops` is waits_of_stops().
inline std::optional<std::uint64_t> new_waits(const Facts& facts, ThreadKey key, std::uint64_t of_stops) {
  const auto grown = counted_waits(facts, key);
  if (!grown) return std::nullopt;
  return *grown - std::min(*grown, of_stops);
}
inline std::optional<std::uint64_t> new_waits(const Facts& facts, ThreadKey key) {
  return new_waits(facts, key, waits_of_stops(facts));
}

// Whether it was in one wait from the first look to the last. kLikely: it was not asleep when a count was read, so that
// one may have been read too early; or it has waited once more, which it does if it was waked once.
enum class Sleep { kNo, kLikely, kCertain };

inline Sleep sleep_of(const Facts& facts, ThreadKey key, std::uint64_t of_stops) {
  constexpr std::uint64_t kMisread = 1;
  const auto waits = new_waits(facts, key, of_stops);
  if (!waits || *waits > kMisread) return Sleep::kNo;
  const bool exact = facts.looks.front().find(key)->slept && facts.looks.back().find(key)->slept;
  return *waits == 0 && exact ? Sleep::kCertain : Sleep::kLikely;
}

inline Sleep sleep_of(const Facts& facts, ThreadKey key) { return sleep_of(facts, key, waits_of_stops(facts)); }

inline bool slept_all_along(const Facts& facts, ThreadKey key) { return sleep_of(facts, key) != Sleep::kNo; }

}  // namespace jtrace::diagnose
