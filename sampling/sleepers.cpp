#include "sampling/sleepers.h"

#include <utility>

#include "base/clock.h"

namespace jtrace::sampling {

Sleep Sleepers::look(SampledJvm& jvm, pid_t tid) {
  const std::uint64_t before = monotonic_ns();
  SampledJvm::Look look = jvm.look_at(tid);
  if (look.sleep == Sleep::kWhole)
    sleepers_[static_cast<std::uint32_t>(tid)] = {.sleep = {.from = monotonic_ns(), .until = before},
                                                  .moment = std::move(look.moment),
                                                  .report = std::move(look.thread)};
  return look.sleep;
}

bool Sleepers::still_sleeps(const SampledJvm& jvm, pid_t tid) {
  const std::uint64_t before = monotonic_ns();
  const auto known = sleepers_.find(static_cast<std::uint32_t>(tid));
  if (known == sleepers_.end() || jvm.moment_of(tid) != known->second.moment) return false;
  known->second.sleep.until = before;
  return true;
}

const coreinspect::ThreadReport* Sleepers::stack_of(const Wait& wait) const {
  const auto sleeper = sleepers_.find(wait.tid);
  return sleeper != sleepers_.end() && sleeper->second.sleep.is_of(wait) ? &sleeper->second.report : nullptr;
}

}  // namespace jtrace::sampling
