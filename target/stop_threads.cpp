#include "target/stop_threads.h"

#include <elf.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "base/file.h"

namespace jtrace::target {
namespace {

constexpr int kMaxRounds = 64;  // threads may start threads while they are seized

Error no_right(pid_t tid, int errnum) {
  Error error = system_error(errnum, "cannot stop thread " + std::to_string(tid) + " by ptrace");
  if (errnum == EPERM) {
    error.category = ErrorCategory::kPermission;
    error.help = "run as the target's user or root, and see /proc/sys/kernel/yama/ptrace_scope";
  }
  return error;
}

// A thread that an earlier stop by this thread could not release, because it had not stopped. TracerPid is a thread's
// id.
bool is_traced_by_us(pid_t tid) {
  const auto status = read_file("/proc/" + std::to_string(tid) + "/status");
  return status && status->find("\nTracerPid:\t" + std::to_string(::gettid()) + "\n") != status->npos;
}

// Its entry may remain in /proc for some time; that of the first thread until the process ends.
bool has_ended(const Process& process, pid_t tid) {
  const auto status = process.read_proc("task/" + std::to_string(tid) + "/status");
  return !status || parse_status(*status).has_exited();
}

// The signal that stopped a thread, which must be passed on when it continues; 0: a stop of ptrace's own.
int signal_of_stop(int status) { return status >> 16 == 0 ? WSTOPSIG(status) : 0; }

// A thread can be released only when it has stopped. Waits until it stops, or is in the kernel for long. Returns the
// signal that must be passed on, 0 for none; nothing if it did not stop, or ended.
std::optional<int> wait_until_stopped(pid_t tid) {
  constexpr int kTries = 2000;  // about 100 us each
  for (int i = 0; i < kTries; ++i) {
    int status = 0;
    const pid_t got = ::waitpid(tid, &status, __WALL | WNOHANG);
    if (got != 0 && (got != tid || !WIFSTOPPED(status))) return std::nullopt;
    if (got == tid) return signal_of_stop(status);
    const timespec pause{0, 50'000};
    ::nanosleep(&pause, nullptr);
  }
  return std::nullopt;
}

// False if the thread has ended meanwhile: it must be waited for.
bool let_go(pid_t tid, int signal) {
  return ::ptrace(PTRACE_DETACH, tid, nullptr, reinterpret_cast<void*>(static_cast<std::intptr_t>(signal))) == 0;
}

// A thread that is killed while it is traced stays until its tracer has waited for it, and so does its process: no
// other process can see its end. The first thread can be waited for only after all others, so they all take turns. The
// memory of a large process takes time to free.
void wait_for_end(std::vector<pid_t> tids) {
  constexpr int kTries = 4000;  // 0.5 ms each
  for (int i = 0; !tids.empty() && i < kTries; ++i) {
    if (i > 0) {
      const timespec pause{0, 500'000};
      ::nanosleep(&pause, nullptr);
    }
    std::erase_if(tids, [](pid_t tid) {
      int status = 0;
      const pid_t got = ::waitpid(tid, &status, __WALL | WNOHANG);
      if (got == tid && WIFSTOPPED(status)) return let_go(tid, signal_of_stop(status));
      return got != 0;
    });
  }
}

}  // namespace

StoppedThreads& StoppedThreads::operator=(StoppedThreads&& other) noexcept {
  if (this == &other) return *this;
  release();
  if (other.first_in_line_) first_in_line_.emplace(std::move(*other.first_in_line_));
  traced_ = std::exchange(other.traced_, {});
  threads_ = std::exchange(other.threads_, {});
  held_ = std::exchange(other.held_, {});
  started_ns_ = other.started_ns_;
  released_ns_ = other.released_ns_;
  limit_ = other.limit_;
  return *this;
}

Result<StoppedThreads> StoppedThreads::stop(const Process& process, std::chrono::milliseconds max_stop) {
  StoppedThreads stopped;
  stopped.limit_ = max_stop;
  stopped.first_in_line_.emplace();
  stopped.started_ns_ = monotonic_ns();
  JTRACE_RETURN_IF_ERROR(stopped.seize_all(process));
  JTRACE_RETURN_IF_ERROR(stopped.read_registers());
  return stopped;
}

Result<StoppedThreads> StoppedThreads::stop(const Process& process, std::chrono::milliseconds max_stop,
                                            std::span<const pid_t> tids) {
  StoppedThreads stopped;
  stopped.limit_ = max_stop;
  stopped.first_in_line_.emplace();
  stopped.started_ns_ = monotonic_ns();
  JTRACE_RETURN_IF_ERROR(stopped.seize(process, tids));
  JTRACE_RETURN_IF_ERROR(stopped.wait_all());
  JTRACE_RETURN_IF_ERROR(stopped.read_registers());
  return stopped;
}

std::chrono::nanoseconds StoppedThreads::time_left() const {
  return limit_ - std::chrono::nanoseconds(monotonic_ns() - started_ns_);
}

// Another jtrace holds a thread only for a moment. This is waited for only as long as no thread is stopped by this
// object.
int StoppedThreads::try_seize(const Process& process, pid_t tid) const {
  constexpr int kTries = 50;
  for (int i = 0;; ++i) {
    if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) == 0) return 0;
    const int errnum = errno;
    if (errnum == ESRCH || i == kTries || !traced_.empty()) return errnum;
    const auto held = find_holder(process, tid);
    if (i > 0 && (!held || held->tracer_name != "jtrace")) return errnum;
    const timespec pause{0, 1'000'000};
    if (held && held->tracer_name == "jtrace") ::nanosleep(&pause, nullptr);
  }
}

Result<> StoppedThreads::seize(const Process& process, std::span<const pid_t> tids) {
  std::optional<Error> refused;
  std::vector<pid_t> why_unknown;
  for (pid_t tid : tids) {
    if (const int errnum = try_seize(process, tid); errnum != 0 && !is_traced_by_us(tid)) {
      if (errnum == ESRCH || has_ended(process, tid)) continue;
      if (auto held = find_holder(process, tid)) {
        held_.push_back(std::move(*held));
        continue;
      }
      if (!refused) refused = no_right(tid, errnum);
      why_unknown.push_back(tid);
      continue;
    }
    traced_.push_back({.tid = tid});
    ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  }
  // If one thread of a process may be stopped, all may: the others have a tracer that cannot be seen from here.
  if (refused && traced_.empty()) return fail(std::move(*refused));
  for (pid_t tid : why_unknown) held_.push_back({.tid = tid});
  return {};
}

Result<> StoppedThreads::seize_all(const Process& process) {
  std::unordered_set<pid_t> known;
  for (int round = 0; round < kMaxRounds; ++round) {
    JTRACE_ASSIGN_OR_RETURN(auto tids, process.threads());
    std::erase_if(tids, [&](pid_t tid) { return !known.insert(tid).second; });
    if (tids.empty() && round > 0) return {};
    JTRACE_RETURN_IF_ERROR(seize(process, tids));
    JTRACE_RETURN_IF_ERROR(wait_all());
  }
  return fail(ErrorCategory::kTimeout, "the target starts threads faster than they can be stopped");
}

Result<> StoppedThreads::wait_all() {
  // A running thread stops within microseconds, and a sleep takes many more. So the target is polled at first, since
  // the stopped threads are waiting.
  constexpr int kQuickLooks = 100;
  int looks = 0;
  for (Traced& thread : traced_) {
    while (!thread.stopped && thread.tid != 0) {
      int status = 0;
      const pid_t got = ::waitpid(thread.tid, &status, __WALL | WNOHANG);
      if (got < 0 || (got == thread.tid && !WIFSTOPPED(status))) {
        thread.tid = 0;  // it ended
      } else if (got == thread.tid) {
        thread.stopped = true;
        // A pending signal stops a thread too. Group stops carry an event.
        thread.signal = signal_of_stop(status);
      } else if (time_left().count() < 0) {
        return fail(Error{.category = ErrorCategory::kTimeout,
                          .text = "thread " + std::to_string(thread.tid) + " did not stop within " +
                                  std::to_string(limit_.count() / 1'000'000) + " ms; all threads continue",
                          .help = "allow more time with --max-stop"});
      } else if (++looks <= kQuickLooks) {
        ::sched_yield();
      } else {
        const timespec pause{0, 20'000};
        ::nanosleep(&pause, nullptr);
      }
    }
  }
  std::erase_if(traced_, [](const Traced& thread) { return thread.tid == 0; });
  return {};
}

Result<> StoppedThreads::read_registers() {
  for (const Traced& traced : traced_) {
    ThreadRegisters thread;
    thread.tid = traced.tid;
    thread.signal = traced.signal;
    iovec into{thread.registers.words.data(), traits_of(kNativeIsa).register_words * sizeof(std::uint64_t)};
    if (::ptrace(PTRACE_GETREGSET, traced.tid, reinterpret_cast<void*>(NT_PRSTATUS), &into) == 0)
      threads_.push_back(thread);
  }
  if (threads_.empty() && held_.empty())
    return fail(ErrorCategory::kNotFound, "the process ended while it was being stopped");
  return {};
}

std::chrono::nanoseconds StoppedThreads::release() {
  if (released_ns_ == 0 && traced_.empty()) return {};
  if (traced_.empty()) return std::chrono::nanoseconds(released_ns_ - started_ns_);
  std::vector<pid_t> ended;
  for (const Traced& thread : traced_)
    if (thread.stopped && !let_go(thread.tid, thread.signal)) ended.push_back(thread.tid);
  // The kernel releases a thread that does not stop when this process ends; the next stop releases it too.
  for (const Traced& thread : traced_) {
    if (thread.stopped) continue;
    if (const auto signal = wait_until_stopped(thread.tid); signal && !let_go(thread.tid, *signal))
      ended.push_back(thread.tid);
  }
  traced_.clear();
  released_ns_ = monotonic_ns();
  first_in_line_.reset();
  wait_for_end(std::move(ended));
  return std::chrono::nanoseconds(released_ns_ - started_ns_);
}

}  // namespace jtrace::target
