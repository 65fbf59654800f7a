#include "coreinspect/tools/safepoint_watch.h"

#include <thread>

#include "base/clock.h"
#include "coreinspect/tools/counters.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::chrono::milliseconds kLasting{400};   // what is there so long is not a passing safepoint
constexpr std::chrono::milliseconds kLongest{2000};  // for all looks
constexpr std::chrono::milliseconds kBetween{25};
constexpr int kTries = 4;  // a list of threads that is just replaced may be unreadable

std::uint64_t nanos(std::chrono::nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

pid_t vm_thread_id(const KernelThreads& threads) {
  const KernelThread* found = threads.named("VM Thread");
  return found ? found->nstid : 0;
}

}  // namespace

bool SafepointMoment::same(const SafepointMoment& other) const {
  if (look.state != other.look.state || look.number != other.look.number) return false;
  if (operation.has_value() != other.operation.has_value()) return false;
  if (operation && !operation->same(*other.operation)) return false;
  return look.state == SafepointState::kNone || look.begin_ns == other.look.begin_ns;
}

SafepointWatch::SafepointWatch(const Inspection& inspection)
    : inspection_(inspection),
      symbols_(inspection.target()),
      kernel_(inspection.vm()),
      safepoints_(SafepointReader::find(inspection.vm(), symbols_)),
      operations_(VmOperations::find(inspection.vm(), symbols_, vm_thread_id(kernel_))) {}

Result<SafepointMoment> SafepointWatch::look() const {
  SafepointMoment moment;
  if (safepoints_) {
    JTRACE_ASSIGN_OR_RETURN(moment.look, safepoints_->look());
    // JDK 8 without symbols: the counter goes up when a safepoint begins.
    if (!moment.look.number)
      if (const auto counters = read_counters(inspection_.vm()))
        if (const auto number = counters->long_value("sun.rt.safepoints"))
          moment.look.number = static_cast<std::uint64_t>(*number);
  }
  if (operations_) {
    JTRACE_ASSIGN_OR_RETURN(moment.operation, operations_->now());
  }
  moment.ns = monotonic_ns();
  return moment;
}

Result<SafepointMoment> SafepointWatch::look_with_retries() const {
  auto moment = look();
  for (int i = 1; !moment && i < kTries && inspection_.target().process(); ++i) moment = look();
  return moment;
}

std::optional<bool> SafepointWatch::is_quiet() const {
  const auto now = look_with_retries();
  return safepoints_ && now ? std::optional(now->is_quiet()) : std::nullopt;
}

Result<SafepointMoment> SafepointWatch::run() {
  JTRACE_ASSIGN_OR_RETURN(SafepointMoment now, look_with_retries());
  restart(now);
  const std::uint64_t end = now.ns + nanos(kLongest);
  while (inspection_.target().process() && !now.is_quiet() && now.ns - first_.ns < nanos(kLasting)) {
    if (now.ns > end) {
      lasting_ = false;
      break;
    }
    std::this_thread::sleep_for(kBetween);
    JTRACE_ASSIGN_OR_RETURN(now, look_with_retries());
    if (now.same(first_)) keep_late(now.look);
    else restart(now);
  }
  return now;
}

void SafepointWatch::restart(const SafepointMoment& now) {
  first_ = now;
  late_ = now.look.threads;
  before_.clear();
  keep_late(now.look);
  if (now.is_quiet() || !inspection_.target().process()) return;
  for (const auto& [thread, state] : late_)
    if (const pid_t tid = kernel_.tid_of(thread); tid != 0)
      before_[thread] = read_kernel_facts(*inspection_.target().process(), tid);
}

void SafepointWatch::keep_late(const SafepointLook& look) {
  std::erase_if(late_, [&](const auto& each) {
    const auto now = look.threads.find(each.first);
    return now == look.threads.end() || !holds_up_safepoint(now->second);
  });
}

KernelFacts SafepointWatch::facts_before(target::Address thread) const {
  const auto found = before_.find(thread);
  return found == before_.end() ? KernelFacts() : found->second;
}

}  // namespace jtrace::coreinspect
