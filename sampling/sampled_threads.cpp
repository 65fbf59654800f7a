#include "sampling/sampled_threads.h"

#include "base/clock.h"
#include "base/strings.h"

namespace jtrace::sampling {
namespace {

using coreinspect::JavaThread;

constexpr std::uint64_t kAgain = kNanosPerSecond;           // a thread's name
constexpr std::uint64_t kListAgain = kNanosPerSecond / 20;  // the list, however many new threads there are
constexpr std::size_t kMostKnown = 100'000;

}  // namespace

const coreinspect::ThreadReport& SampledThreads::of(pid_t tid, target::Address sp) {
  if (known_.size() >= kMostKnown) known_.clear();
  Known& known = known_[tid];
  const std::uint64_t now = monotonic_ns();
  const bool of_another = known.report.java.address != 0 && sp != 0 && !known.report.java.has_stack_address(sp);
  if (known.looked_up == 0 || of_another || now - known.looked_up > kAgain) {
    if (now - read_ > kListAgain) read_java_threads(now);
    look_up(tid, sp, known);
    known.looked_up = now;
  }
  return known.report;
}

void SampledThreads::read_java_threads(std::uint64_t now) {
  read_ = now;
  const auto addresses = coreinspect::java_thread_addresses(inspection_.vm());
  if (!addresses) return;
  java_.clear();
  for (const target::Address address : *addresses) {
    JavaThread thread = coreinspect::read_java_thread(inspection_.objects(), address);
    if (thread.stack_base != 0) java_[thread.stack_base] = std::move(thread);
  }
}

void SampledThreads::look_up(pid_t tid, target::Address sp, Known& known) {
  coreinspect::ThreadReport& report = known.report;
  const auto java = java_.upper_bound(sp);
  if (sp != 0 && java != java_.end() && java->second.has_stack_address(sp)) {
    report.java = java->second;
    report.native_id = report.java.native_id;
    return;
  }
  const target::Process* process = inspection_.target().process();
  const auto status = process->read_proc("task/" + std::to_string(tid) + "/status");
  if (!status) {  // it has ended: what was known stays
    if (known.looked_up == 0) report = {.name = "thread " + std::to_string(tid), .native_id = tid};
    return;
  }
  const auto parsed = target::parse_status(*status);
  report = {.name = parsed.name, .native_id = parsed.nspid.empty() ? tid : parsed.nspid.back()};
}

}  // namespace jtrace::sampling
