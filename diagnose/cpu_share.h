// The share of the time between two samples in which a thread ran, or was ready to run. Pure functions, any thread.
#pragma once

#include <optional>

#include "diagnose/facts.h"

namespace jtrace::diagnose {

// The share, on a processor or ready for one, from which a thread counts as never waiting. It is below 1, because the
// kernel counts the time of waiting for a processor only when the wait is over.
inline constexpr double kWholeProcessor = 0.85;

struct CpuShare {
  double ran = 0, queued = 0;
  double wanted() const { return ran + queued; }
};

// Nothing if the thread is new, or if the kernel does not have the figures.
inline std::optional<CpuShare> share_between(const ThreadsLook& before, const ThreadsLook& now, ThreadKey key) {
  const ThreadFact* then = before.find(key);
  const ThreadFact* thread = now.find(key);
  if (!then || !thread || !then->ran_ns || !thread->ran_ns) return std::nullopt;
  const double elapsed = static_cast<double>(thread->measured_ns) - static_cast<double>(then->measured_ns) -
                         static_cast<double>(now.stopped.count());
  if (elapsed <= 0) return std::nullopt;
  const auto grown = [&](std::optional<std::uint64_t> from, std::optional<std::uint64_t> to) {
    return from && to && *to > *from ? static_cast<double>(*to - *from) / elapsed : 0.0;
  };
  return CpuShare{.ran = grown(then->ran_ns, thread->ran_ns), .queued = grown(then->queued_ns, thread->queued_ns)};
}

}  // namespace jtrace::diagnose
