// Threads of a live JVM by the processor time they used since the last look, with their Java names, states and top
// frames. Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::coreinspect {

struct TopRow {
  std::string name;
  pid_t native_id = 0;
  std::int64_t id = 0;     // of the java.lang.Thread; 0 for threads of the VM
  std::string_view state;  // as Thread.State; "" for threads of the VM
  double cpu = 0;          // share of one processor since the last look
  bool measured = true;    // the kernel gives its time
  std::string frame;       // the innermost Java frame; "" if there is none
  // Of a thread that was not stopped: its samples since the last look, and how many of them had the frame.
  std::uint32_t samples = 0, of_frame = 0;
  // The virtual threads that it ran in these samples: how many, and the one that had more than half; 0: none had.
  std::size_t carried = 0;
  std::int64_t carried_id = 0;
  std::string carried_name;
};

struct TopTable {
  std::vector<TopRow> rows;  // by cpu, the busiest first
  double ended = 0;  // share of one processor by threads that have ended since the last look; 0 if it may be noise
  std::chrono::nanoseconds pause{};
  std::vector<std::string> missing;
};

// What the process used between two looks and no thread in the list did, as a share of one processor; 0 if it may be
// noise. A thread's time is up to a tick behind where it runs.
double share_of_ended(double process_ns, const std::vector<TopRow>& rows, double elapsed_ns);

// What a process has used, and when.
struct ProcessTime {
  std::uint64_t at = 0;              // CLOCK_MONOTONIC, ns
  std::optional<std::uint64_t> cpu;  // nothing if it has ended
};
ProcessTime process_time(const Inspection& inspection);

// Makes tables of snapshots: what has been used since the one before.
class TopCounter {
 public:
  // The process's time before and after the snapshot was taken. The first one has nothing to compare with: its `cpu`
  // is 0.
  TopTable add(ThreadSnapshot snapshot, const ProcessTime& before, const ProcessTime& after);

 private:
  std::map<pid_t, std::uint64_t> cpu_ns_;
  std::uint64_t last_ns_ = 0;
  std::optional<double> process_ns_;  // when the threads' times were read
};

// Stops the threads for each look.
class TopThreads {
 public:
  // Borrows the inspection, of a process.
  TopThreads(Inspection& inspection, std::chrono::milliseconds max_stop)
      : inspection_(inspection),
        sampler_(inspection, {.max_stop = max_stop, .native = false, .virtual_threads = false}) {}
  Result<TopTable> look();

 private:
  Inspection& inspection_;
  ThreadSampler sampler_;
  TopCounter counter_;
};

}  // namespace jtrace::coreinspect
