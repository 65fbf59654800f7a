// WaitTracker: joins what the kernel reports of context switches into waits: the sample that is taken when a thread
// leaves its processor (with its stack), the record that it left, and the record that it is back.
//
// The records come from several rings, each in order. advance() joins those up to a time below which no record can come
// any more, in the order of their times. Where records were lost, a thread may have been back and have left again:
// waits are cut there, and what goes on after has no stack. Threads are distinguished by their id; ended() forgets one,
// because its id may soon be another thread's. Who woke a thread is the last one who did before it was back. Who had
// the lock is what its look found, if the thread waited all the while. Pure; one thread. Memory: the records since the
// last advance(), and one stack a thread.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sampling/lock_looks.h"
#include "sampling/sample_record.h"
#include "sampling/wakeups.h"

namespace jtrace::sampling {

// A sample with a stack of its own.
struct KeptSample {
  explicit KeptSample(const SampleRecord& from);
  SampleRecord sample;
  std::vector<std::byte> stack;
};

// A thread had no processor from `begin` to `end` (CLOCK_MONOTONIC, ns).
struct Wait {
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t begin = 0, end = 0;
  bool preempted = false;              // it did not wait for anything but a processor
  bool from_before = false;            // it began before the recording did: `begin` is that of the recording
  bool still = false;                  // it had not ended when the recording did
  const SampleRecord* at = nullptr;    // where it began; null if that is not known
  const LockOwner* owner = nullptr;    // of the lock that it is for, as it was seen meanwhile; null if it was not
  const std::string* waker = nullptr;  // who ended it; null if that is not known
  std::uint64_t length() const { return end - begin; }
};
using TakeWait = std::function<void(const Wait&)>;
using TakeEnded = std::function<void(std::uint32_t tid)>;
// The name of who did it, for a thread of process `pid`.
using NameWaker = std::function<std::string(const Wakeup& wakeup, std::uint32_t pid)>;

class WaitTracker {
 public:
  // Waits shorter than `least` ns are only counted. `ended`: called when a thread's last wait has been taken; may be
  // empty. `name`: called before `ended` is for a thread that woke another one and then ended.
  explicit WaitTracker(std::uint64_t least, TakeEnded ended = {}, NameWaker name = {})
      : least_(least), ended_(std::move(ended)), name_(std::move(name)) {}

  // A thread that was there when its recording began, at `time`: before its first records are taken. If it is back
  // before it left, it had waited since then; any other thread has just started.
  void existed(std::uint32_t pid, std::uint32_t tid, std::uint64_t time);
  // It was seen running at `seen`: it had waited only if it was back by then.
  void ran(std::uint32_t tid, std::uint64_t seen);

  void add(const SampleRecord& leaves);
  void add(const SwitchRecord& record);
  void add(const Wakeup& wakeup);
  void ended(std::uint32_t tid, std::uint64_t time);
  // Switches may have been lost from `from` to `to`.
  void lost(std::uint64_t from, std::uint64_t to);

  // Threads that have waited at `now` for at least `least`, and whose lock's owner is not known. Each is given a few
  // times in a wait; `look` returns whether it is looked at this time. `sp`: 0 if it is not known.
  using ToLook = std::function<bool(std::uint32_t pid, std::uint32_t tid, std::uint64_t sp)>;
  void find_ownerless(std::uint64_t now, const ToLook& look);
  // Threads that wait since a moment of which there is no sample, those that have waited longest first.
  struct WaitingThread {
    std::uint64_t since = 0;
    std::uint32_t pid = 0, tid = 0;
    auto operator<=>(const WaitingThread&) const = default;
  };
  std::vector<WaitingThread> stackless() const;
  // What a look found.
  void owner(std::uint32_t tid, LockOwner owner);

  // Takes the waits that ended up to `until`.
  void advance(std::uint64_t until, const TakeWait& take);
  // The rest, and the waits that have not ended, also of threads without any record: those are cut at `end`.
  void finish(std::uint64_t end, const TakeWait& take);

  std::uint64_t brief() const { return brief_; }        // waits that were shorter than `least`
  std::uint64_t brief_ns() const { return brief_ns_; }  // their sum
  // Times that a thread was back without having left, or left twice: the record between them was lost.
  std::uint64_t broken() const { return broken_; }
  std::uint64_t blind_ns() const { return blind_ns_; }  // for which switches may have been lost

 private:
  struct Event {
    enum class Kind { kLeaves, kOut, kIn, kWoken, kEnded, kLost } kind = Kind::kIn;
    std::uint64_t time = 0;
    std::uint64_t to = 0;  // of kLost
    std::uint32_t pid = 0, tid = 0;
    bool preempted = false;
    std::unique_ptr<KeptSample> sample;
    Wakeup wakeup{};
  };
  struct Thread {
    std::uint32_t pid = 0, tid = 0;
    bool existed = false, waits = false, ran = false, preempted = false;
    std::uint64_t since = 0;
    std::uint64_t seen_running = UINT64_MAX;  // before its first record
    std::unique_ptr<KeptSample> sample;
    std::optional<std::string> waker;
    std::optional<LockOwner> owner;
    int looks = 0;  // for the owner, in this wait
    // It is one that has waited since its recording began.
    bool waits_from_before() const { return existed && !ran && seen_running == UINT64_MAX; }
    // For something else than a processor.
    bool waits_for_something() const { return (waits && !preempted) || waits_from_before(); }
  };
  static void begin_looks(Thread& thread) { thread.looks = 0, thread.owner.reset(); }
  void apply(Event& event, const TakeWait& take);
  void woken(const Wakeup& wakeup);
  void cut(const Event& lost, const TakeWait& take);
  void out(Event& event, Thread& thread);
  void lost_its_end(Thread& thread);
  void back(Event& event, Thread& thread, const TakeWait& take);
  void give(const Thread& thread, Wait wait, const TakeWait& take);

  const std::uint64_t least_;
  const TakeEnded ended_;
  const NameWaker name_;
  std::vector<Event> events_;
  std::map<std::uint32_t, Thread> threads_;
  std::uint64_t brief_ = 0, brief_ns_ = 0, broken_ = 0;
  std::uint64_t blind_until_ = 0, blind_ns_ = 0;
};

}  // namespace jtrace::sampling
