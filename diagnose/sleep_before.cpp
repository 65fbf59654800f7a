#include "diagnose/sleep_before.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "coreinspect/tools/futex_waits.h"
#include "target/last_run.h"

namespace jtrace::diagnose {
namespace {

constexpr std::chrono::milliseconds kLimit{200};  // for processes with many threads

std::optional<std::uint64_t> grown_by(const ThreadFact& thread, const SleepBefore::Thread& before) {
  if (!thread.slept || !thread.in_call || !thread.waits || *thread.waits < before.waits) return std::nullopt;
  return *thread.waits - before.waits;
}

}  // namespace

SleepBefore SleepBefore::read(const target::Process& process) {
  const std::vector<pid_t> tids = process.threads().value_or(std::vector<pid_t>());
  std::map<pid_t, Thread> threads;
  const std::uint64_t due = monotonic_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(kLimit).count());
  for (const pid_t tid : tids) {
    if (monotonic_ns() >= due) break;
    if (const auto status = process.read_proc("task/" + std::to_string(tid) + "/status"))
      if (const auto waits = coreinspect::count_of_waits(*status)) threads[tid].waits = *waits;
  }
  const auto times = target::times_asleep(process, tids, kLimit);
  for (auto& [tid, thread] : threads)
    if (const auto time = times.find(tid); time != times.end())
      thread.asleep_ns = static_cast<std::uint64_t>(time->second.count());
  return SleepBefore(std::move(threads));
}

void SleepBefore::note_in(ThreadsLook& look) const {
  std::optional<std::uint64_t> least;
  const auto growth_of = [&](const ThreadFact& thread) {
    const auto before = threads_.find(thread.tid);
    return before == threads_.end() || thread.is_virtual ? std::nullopt : grown_by(thread, before->second);
  };
  for (const ThreadFact& each : look.threads)
    if (const auto growth = growth_of(each)) least = std::min(least.value_or(*growth), *growth);
  for (ThreadFact& each : look.threads)
    if (const auto growth = growth_of(each); growth && growth == least)
      each.asleep_ns = threads_.at(each.tid).asleep_ns;
}

}  // namespace jtrace::diagnose
