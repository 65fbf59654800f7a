// PollLoop: determines the time of the next sample. Keeps a fixed interval on CLOCK_MONOTONIC for the samples and a
// second, shorter one for the pauses of the collector; also wakes when a JVM ends or the user stops it.
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
  std::chrono::nanoseconds pause_interval{0};  // 0: pauses are only looked for in the samples
};

class PollLoop {
 public:
  enum class Wake { kSample, kPauses, kEnded, kStopped, kDone };

  // `stop_fd`: becomes readable to stop the loop; -1: none.
  PollLoop(const PollPlan& plan, int stop_fd);

  // The descriptors of processes: readable when they end (Process::pidfd(); -1 is ignored).
  void watch(std::vector<int> pidfds) { pidfds_ = std::move(pidfds); }
  // Waits. The first kSample comes at once. After kEnded, ended() is the index of the process that ended.
  Wake wait();
  std::size_t ended() const { return ended_; }
  // Samples that were left out because the previous one took too long.
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
