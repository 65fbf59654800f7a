// PerfEvents: the kernel takes samples of processes: at each tick of a CPU clock, and whenever a thread leaves its
// processor, the registers, a copy of the stack and the kernel's call chain go into a ring. The processes are not
// stopped and nothing is changed in them.
//
// Two arrangements, of which open() takes the first that is allowed:
//   processors  one event on each processor. It samples every process; samples of other processes are dropped here. No
//               longer context switches. Needs CAP_PERFMON, or perf_event_paranoid 0 or less. Not for switches: it
//               would copy the stacks of every process.
//   threads     an event for each thread on each processor, inherited by the threads that it starts. For the user's own
//               processes; without time in the kernel if perf_event_paranoid is 2 or more.
// The events end with their descriptors, also if this process is killed. Ownership: owns them all. One thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sampling/event_owners.h"
#include "sampling/sample_record.h"
#include "target/perf_ring.h"
#include "target/process.h"

namespace jtrace::sampling {

inline constexpr std::uint32_t kMostStackBytes = 65'528;  // a record has at most 65,535 bytes
inline constexpr std::uint32_t kStackBytes = 32'768;

struct EventOptions {
  double hz = 99;
  std::uint32_t stack_bytes = kStackBytes;  // a multiple of 8, at most kMostStackBytes
  bool ticks = true;                        // samples of CPU time
  bool switches = false;                    // samples of threads that leave their processor, and records of switches
  std::size_t ring_bytes = 0;               // of a processor, at most: a power of two; 0: as much as is useful
};

// Receivers of what is in the rings. Those of a ring come in order, ring after ring. Times: CLOCK_MONOTONIC, ns.
struct TakeRecords {
  std::function<void(const SampleRecord&)> tick;
  std::function<void(const SampleRecord&)> leaves;  // at a context switch, before its record
  std::function<void(const SwitchRecord&)> switched;
  std::function<void(std::uint32_t tid, std::uint64_t time)> ended;  // of a thread; not with kProcessors
  std::function<void(const NameRecord&)> named;
  // Between these times records of switches may have been lost.
  std::function<void(std::uint64_t from, std::uint64_t to)> lost;
};

class PerfEvents {
 public:
  enum class Arrangement { kProcessors, kThreads };

  // Nothing is sampled before start(). Of several processes, those that cannot be sampled are left out. Errors:
  // kPermission with the missing right; kUsage for a rate that is too high; kSystem; if none can be sampled, those of
  // the last. Borrows the processes.
  static Result<std::unique_ptr<PerfEvents>> open(const std::vector<const target::Process*>& processes,
                                                  const EventOptions& options);

  // Another process, also after start(): all of it, or nothing if there is an error.
  Result<> add(const target::Process& process);
  // It has ended: its number may be another process's soon. Closes its events. What of it is still in the rings is
  // dropped.
  void remove(pid_t pid);

  Result<> start();
  // Samples taken so far stay in the rings.
  void stop();
  // Gives what came since the last call. Returns up to when that is complete: a ring that was full reports what it lost
  // since then only with its next record; UINT64_MAX if none was.
  std::uint64_t drain(const TakeRecords& take);

  // By process; with the reason.
  const std::map<pid_t, Error>& left_out() const { return left_out_; }
  // Whether it has events of its own. One that started later may have inherited those of another.
  bool has_events(pid_t thread) const { return owners_.has(thread); }
  bool with_kernel() const { return with_kernel_; }
  bool of_threads() const { return arrangement_ == Arrangement::kThreads; }
  // Whether there are samples at switches; without the kernel's part the kernel gives none.
  bool with_leaves() const { return options_.switches && with_kernel_; }
  // What samples lack by the arrangement; one line each.
  const std::vector<std::string>& notes() const { return notes_; }
  // Threads that are not sampled; one line each.
  const std::vector<std::string>& missing() const { return missing_; }
  std::string description() const;
  std::size_t ring_bytes() const { return rings_.empty() ? 0 : rings_[0].ring.size(); }
  std::uint64_t lost() const;       // records that found no room
  std::uint64_t throttled() const;  // times that the kernel suspended an event

 private:
  using Event = EventOwners::Kind;
  using Origin = EventOwners::Origin;
  struct Opened {
    UniqueFd fd;
    std::uint64_t id = 0;
    Origin origin;
    bool has_ring = false;  // that of its processor: later events are redirected to its descriptor
  };

  // What was lost before the next record of a ring.
  struct Loss {
    std::uint64_t records = 0, time = 0;  // 0: nothing
    std::uint32_t tid = 0;                // whose the next record is
  };
  struct Ring {
    target::PerfRing ring;
    std::uint64_t last = 0;  // the time of its last record
    Loss loss;
  };

  explicit PerfEvents(const EventOptions& options);
  Result<> try_open(Arrangement arrangement, bool with_kernel, const std::vector<const target::Process*>& processes);
  Result<> add_all(const std::vector<const target::Process*>& processes);
  Result<> open_processors();
  Result<> open_threads(const target::Process& process);
  // All of its events, or none.
  Result<> open_thread(pid_t process, pid_t thread);
  Result<> open_events(pid_t process, pid_t thread);
  // Its descriptor; -1 if the processor is offline.
  Result<UniqueFd> open_event(Event event, pid_t thread, int processor);
  Result<> add_event(UniqueFd fd, Origin origin, int processor);
  Result<> map_ring(int fd);
  bool is_wanted(std::uint64_t event, std::uint32_t pid, std::uint32_t tid) const;
  void take_record(Ring& ring, const perf_event_header& header, std::span<const std::byte> body,
                   const TakeRecords& take);
  void take_loss(Ring& ring, const SwitchRecord* next, const TakeRecords& take);
  void close_events(const std::function<bool(const Origin&)>& which);
  void take_sample(Ring& ring, std::span<const std::byte> body, const TakeRecords& take);
  std::uint64_t lost_of(const Opened& event) const;

  std::map<pid_t, const target::Process*> processes_;
  std::map<pid_t, Error> left_out_;
  EventOptions options_;
  const int processors_;
  Arrangement arrangement_ = Arrangement::kProcessors;
  bool with_kernel_ = true, inherits_threads_alone_ = true, tells_lost_ = true, started_ = false;
  std::size_t ring_size_ = 0;
  std::vector<Ring> rings_;
  std::map<int, int> first_of_;  // processor -> descriptor whose ring it has
  std::vector<Opened> events_;
  EventOwners owners_;
  std::vector<std::string> notes_, missing_;
  std::uint64_t lost_ = 0, lost_of_closed_ = 0, throttled_ = 0;
  SampleRecord sample_;
};

}  // namespace jtrace::sampling
