// The java.util.concurrent locks that threads own: instances of AbstractOwnableSynchronizer (the Sync of ReentrantLock
// and of a ReentrantReadWriteLock's write lock, workers of thread pools, ...) with an exclusiveOwnerThread. `jstack -l`
// calls them locked ownable synchronizers. No object records the readers of a ReentrantReadWriteLock.
//
// A walk over the heap finds them: in a core in place; in a live JVM while it runs, before its threads are captured.
// The owners are read again after the capture, so what is shown was true at both moments; what a thread waits for is
// added. A small core (core_copy.h) has no heap to walk, but a note with what the walk found. The walk ends when its
// time is over; why() has what may be missing. Threads: one at a time.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "coreinspect/tools/lock_facts.h"

namespace jtrace::coreinspect {

// The note of a small core: the line "collections N", then an address for each lock, in decimal; "missing REASON"
// if some may be missing.
constexpr std::uint32_t kLocksNote = 2;
std::string locks_note(const KnownLocks& locks);
// Nothing if the target is not a core with such a note.
std::optional<KnownLocks> noted_locks(const target::Target& target);

struct OwnedLock {
  Address object = 0;
  Address owner = 0;  // java.lang.Thread
  std::string class_name;
};

class OwnedLocks {
 public:
  // Walks the heap. Never fails: why() has the reason. `budget`: the longest walk of a live JVM's heap.
  OwnedLocks(Inspection& inspection, std::chrono::milliseconds budget);
  // After the capture: drops what is no longer true, adds what threads wait for.
  void settle(const LockFacts& locks);

  const std::vector<OwnedLock>& all() const { return locks_; }  // by address
  KnownLocks known() const;
  // The locks that a java.lang.Thread owns.
  std::vector<const OwnedLock*> of(Address thread) const;
  // For a thread that has ended, or that the JVM does not track: its name and number.
  std::pair<std::string, std::int64_t> name_of(const OwnedLock& lock) const;
  // Why locks may be missing; "" if none are.
  const std::string& why() const { return why_; }

 private:
  bool walk(std::uint64_t end_ns);
  void take(const KnownLocks& known);
  bool collected_meanwhile();
  Address owner_of(Address lock) const;

  Inspection& inspection_;
  std::vector<OwnedLock> locks_;
  std::uint64_t collections_ = 0;  // at the time of the walk
  std::string why_;
};

// Adds what may be missing to the end of a view of threads or locks: a line, or the members `ownedComplete` and
// `ownedMissing`.
void append_why(const OwnedLocks& locks, bool json, ViewResult& result);

}  // namespace jtrace::coreinspect
