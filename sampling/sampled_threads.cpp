#include "sampling/sampled_threads.h"

#include <algorithm>

#include "base/clock.h"

namespace jtrace::sampling {
namespace {

using coreinspect::JavaThread;
using target::Address;

constexpr std::uint64_t kAgain = kNanosPerSecond;           // a thread's name
constexpr std::uint64_t kYoung = kNanosPerSecond;           // since it was first seen
constexpr std::uint64_t kListAgain = kNanosPerSecond / 20;  // the list, however many new threads there are
constexpr std::uint64_t kListPart = 9;                      // and not before so many times what it took
constexpr std::size_t kMostKnown = 100'000;

std::optional<std::vector<JavaThread>> java_threads(const coreinspect::Inspection& inspection) {
  const auto addresses = coreinspect::java_thread_addresses(inspection.vm());
  if (!addresses) return std::nullopt;
  std::vector<JavaThread> threads;
  for (const Address address : *addresses)
    threads.push_back(coreinspect::read_java_thread(inspection.objects(), address));
  return threads;
}

std::optional<KernelThread> kernel_thread(const target::Process& process, pid_t tid) {
  const auto status = process.read_proc("task/" + std::to_string(tid) + "/status");
  if (!status) return std::nullopt;
  const auto parsed = target::parse_status(*status);
  return KernelThread{.name = parsed.name, .native_id = parsed.nspid.empty() ? tid : parsed.nspid.back()};
}

}  // namespace

SampledThreads::SampledThreads(const coreinspect::Inspection& inspection)
    : SampledThreads(
          Sources{.java = [&inspection] { return java_threads(inspection); },
                  .kernel = [&inspection](pid_t tid) { return kernel_thread(*inspection.target().process(), tid); },
                  .now = monotonic_ns}) {}

const coreinspect::ThreadReport& SampledThreads::of(pid_t tid, Address sp) {
  if (known_.size() >= kMostKnown) known_.clear();
  Known& known = known_[tid];
  const std::uint64_t now = sources_.now();
  if (is_due(known, sp, now)) {
    if (may_read(now)) read_java_threads();
    look_up(tid, sp, known);
    known.looked_up = now;
    if (known.first == 0) known.first = now;
    known.by_stack = sp != 0;
  }
  return known.report;
}

bool SampledThreads::is_due(const Known& known, Address sp, std::uint64_t now) const {
  if (known.looked_up == 0 || now - known.looked_up > kAgain) return true;
  // It was just starting.
  if (known.without_name && may_read(now)) return true;
  if (sp == 0) return false;
  // Another thread has the number; or it was looked for by its number alone, and was none of the VM's then.
  if (known.is_java()) return !known.report.java.has_stack_address(sp);
  // Or the list was older than the thread, or had it without its stack: it was just starting.
  const bool young = read_ < known.first || now - known.first < kYoung;
  return !known.by_stack || (young && may_read(now));
}

// A long list takes longer than kListAgain: read for each new thread, it would take all the time.
void SampledThreads::read_java_threads() {
  read_ = sources_.now();
  auto threads = sources_.java();
  const std::uint64_t done = sources_.now();
  read_again_ = done + std::max(kListAgain, kListPart * (done - read_));
  if (!threads) return;
  java_.clear();
  stack_bases_.clear();
  for (JavaThread& thread : *threads) {
    if (thread.stack_base == 0) continue;
    stack_bases_[thread.native_id] = thread.stack_base;
    java_[thread.stack_base] = std::move(thread);
  }
}

const JavaThread* SampledThreads::with_stack(Address sp) const {
  const auto found = java_.upper_bound(sp);
  return found != java_.end() && found->second.has_stack_address(sp) ? &found->second : nullptr;
}

const JavaThread* SampledThreads::with_number(pid_t native_id) const {
  const auto base = stack_bases_.find(native_id);
  return base == stack_bases_.end() ? nullptr : &java_.at(base->second);
}

// The list may be older than the thread, and its stack was another one's then.
bool SampledThreads::may_be(const JavaThread& java, pid_t tid, const std::optional<KernelThread>& kernel) const {
  if (java.native_id == 0) return true;
  if (kernel) return java.native_id == kernel->native_id;
  return nested_ ? !names_.contains(tid) : java.native_id == tid;
}

void SampledThreads::look_up(pid_t tid, Address sp, Known& known) {
  coreinspect::ThreadReport& report = known.report;
  const std::optional<KernelThread> kernel = sources_.kernel(tid);
  nested_ = nested_ || (kernel && kernel->native_id != tid);
  const JavaThread* java = sp == 0 ? nullptr : with_stack(sp);
  if (java && !may_be(*java, tid, kernel)) java = nullptr;
  if (!java && sp == 0 && kernel) java = with_number(kernel->native_id);
  if (java) {
    report.java = *java;
    report.native_id = java->native_id;
    known.without_name = java->name.empty();
    if (known.without_name) report.java.name = kernel ? kernel->name : name_of_ended(tid);
    return;
  }
  if (!kernel) return look_up_ended(tid, known);
  // Without a stack address nothing says that it is another thread than before.
  if (known.looked_up != 0 && sp == 0 && known.is_java()) return;
  report = {.name = kernel->name, .native_id = kernel->native_id};
}

// It keeps what is known of it. Before its first name a thread has that of the one that started it.
void SampledThreads::look_up_ended(pid_t tid, Known& known) const {
  if (known.is_java() || (known.looked_up != 0 && !names_.contains(tid))) return;
  if (known.looked_up == 0) known.report.native_id = tid;
  known.report.name = name_of_ended(tid);
}

std::string SampledThreads::name_of_ended(pid_t tid) const {
  const auto name = names_.find(tid);
  return name == names_.end() ? "thread " + std::to_string(tid) : name->second;
}

void SampledThreads::named(pid_t tid, std::string name) {
  if (names_.size() >= kMostKnown) names_.clear();
  // It was perhaps looked up when it had no name of its own yet.
  if (const auto known = known_.find(tid); known != known_.end() && !known->second.is_java())
    known->second.report.name = name;
  names_[tid] = std::move(name);
}

void SampledThreads::forget(pid_t tid) {
  known_.erase(tid);
  names_.erase(tid);
}

}  // namespace jtrace::sampling
