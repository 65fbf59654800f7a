// PollLoop: when to look next. Keeps an even pace on CLOCK_MONOTONIC for the samples and a second, faster one for the
// pauses of the collector; wakes when a JVM ends or the user has had enough.
//
// Ownership: borrows the descriptors. Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace jtrace::perfdata {

struct PollPlan {
  std::chrono::nanoseconds interval{1'000'000'000};
  std::uint64_t count = 0;                     // samples; 0: no limit
  std::chrono::nanoseconds duration{0};        // 0: no limit
  std::chrono::nanoseconds pause_interval{0};  // 0: pauses are looked for at the samples only
};

class PollLoop {
 public:
  enum class Wake { kSample, kPauses, kEnded, kStopped, kDone };

  // `stop_fd`: readable when the loop is to stop; -1: none.
  PollLoop(const PollPlan& plan, int stop_fd);

  // The descriptors of processes: readable when they end (Process::pidfd(); -1 is passed over).
  void watch(std::vector<int> pidfds) { pidfds_ = std::move(pidfds); }
  // Waits. kSample for the first time at once. After kEnded, ended() is the index of the one that ended.
  Wake wait();
  std::size_t ended() const { return ended_; }
  // Samples that could not be taken because the one before took too long.
  std::uint64_t skipped() const { return skipped_; }

 private:
  bool sleep_until(std::uint64_t deadline, Wake& wake);

  PollPlan plan_;
  int stop_fd_;
  std::vector<int> pidfds_;
  std::uint64_t started_ = 0;
  std::uint64_t next_sample_ = 0;
  std::uint64_t next_pauses_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t skipped_ = 0;
  std::size_t ended_ = 0;
};

}  // namespace jtrace::perfdata
