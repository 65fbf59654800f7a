#include "coreinspect/gc/heap_stop.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/strings.h"

namespace jtrace::coreinspect {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using target::StoppedThreads;

constexpr int kRounds = 10;  // of searching for threads that started in the meantime
constexpr timespec kPause{0, 100'000};

// The thread that executes VM operations (VMThread::run, vmThread.cpp, sets its name); 0 if it is not found.
pid_t vm_thread(const target::Process& process) {
  const auto tids = process.threads();
  for (const pid_t tid : tids ? *tids : std::vector<pid_t>())
    if (const auto name = process.read_proc("task/" + std::to_string(tid) + "/comm");
        name && trimmed(*name) == "VM Thread")
      return tid;
  return 0;
}

}  // namespace

Result<HeapStop> HeapStop::make(const Inspection& inspection, milliseconds max_stop) {
  const target::Process& process = *inspection.target().process();
  const pid_t first = vm_thread(process);
  HeapStop stop;
  stop.first_in_line_.emplace();
  const std::uint64_t begun = monotonic_ns();
  while (milliseconds((monotonic_ns() - begun) / 1'000'000) < kLongestWait) {
    if (inspection.collects_now()) {
      ::nanosleep(&kPause, nullptr);
      continue;
    }
    const std::vector<pid_t> tids(first != 0 ? 1 : 0, first);
    auto stopped = first != 0 ? StoppedThreads::stop(process, max_stop, tids) : StoppedThreads::stop(process, max_stop);
    if (!stopped) return fail(stopped.error());
    stop.groups_.push_back(std::move(*stopped));
    if (!inspection.collects_now()) {
      if (first != 0) JTRACE_RETURN_IF_ERROR(stop.stop_rest(process, max_stop));
      return stop;
    }
    ++stop.collections_;
    stop.groups_.clear();
  }
  return fail(ErrorCategory::kTimeout, "the JVM collects all the time, with no pause in which it could be stopped");
}

Result<> HeapStop::stop_rest(const target::Process& process, milliseconds max_stop) {
  std::vector<pid_t> known;
  for (const target::ThreadRegisters& thread : groups_.front().threads()) known.push_back(thread.tid);
  for (const target::HeldThread& thread : groups_.front().held()) known.push_back(thread.tid);
  for (int round = 0; round < kRounds; ++round) {
    JTRACE_ASSIGN_OR_RETURN(auto tids, process.threads());
    std::erase_if(tids, [&](pid_t tid) { return std::find(known.begin(), known.end(), tid) != known.end(); });
    if (tids.empty()) return {};
    known.insert(known.end(), tids.begin(), tids.end());
    const auto left = std::chrono::duration_cast<milliseconds>(time_left());
    if (left.count() <= 0)
      return fail(ErrorCategory::kTimeout,
                  "the threads did not stop within " + std::to_string(max_stop.count()) + " ms; all continue",
                  "allow more time with --max-stop");
    auto stopped = StoppedThreads::stop(process, left, tids);
    if (!stopped && stopped.error().category == ErrorCategory::kNotFound) continue;  // they have ended
    if (!stopped) return fail(stopped.error());
    groups_.push_back(std::move(*stopped));
  }
  return fail(ErrorCategory::kTimeout, "the target starts threads faster than they can be stopped");
}

nanoseconds HeapStop::time_left() const { return groups_.empty() ? nanoseconds{} : groups_.front().time_left(); }

std::vector<target::ThreadRegisters> HeapStop::threads() const {
  std::vector<target::ThreadRegisters> all;
  for (const StoppedThreads& group : groups_) all.insert(all.end(), group.threads().begin(), group.threads().end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.tid < b.tid; });
  return all;
}

std::vector<target::HeldThread> HeapStop::held() const {
  std::vector<target::HeldThread> all;
  for (const StoppedThreads& group : groups_) all.insert(all.end(), group.held().begin(), group.held().end());
  return all;
}

nanoseconds HeapStop::release() {
  nanoseconds longest{};
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) longest = std::max(longest, group->release());
  first_in_line_.reset();
  return longest;
}

}  // namespace jtrace::coreinspect
