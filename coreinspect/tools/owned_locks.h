// The java.util.concurrent locks that threads own: instances of AbstractOwnableSynchronizer (the Sync of ReentrantLock
// and of a ReentrantReadWriteLock's write lock, workers of thread pools, ...) with an exclusiveOwnerThread, which are
// what `jstack -l` calls locked ownable synchronizers. Readers of a ReentrantReadWriteLock are noted in no object.
//
// A walk over the heap finds them: of a core in place, of a live JVM while it runs, before its threads are captured.
// What a thread owns is read once more after that, so that what is shown was so at both moments; what a thread waits
// for is added. The walk ends when its time is over, and what may be missing is said (why()). Threads: one at a time.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "coreinspect/tools/lock_facts.h"

namespace jtrace::coreinspect {

struct OwnedLock {
  Address object = 0;
  Address owner = 0;  // java.lang.Thread
  std::string class_name;
};

class OwnedLocks {
 public:
  // Walks. Never fails: why() tells. `budget`: the longest that a live JVM's heap is walked.
  OwnedLocks(Inspection& inspection, std::chrono::milliseconds budget);
  // After the capture: what is no longer so goes, what threads wait for comes.
  void settle(const LockFacts& locks);

  const std::vector<OwnedLock>& all() const { return locks_; }  // by address
  // Of a java.lang.Thread.
  std::vector<const OwnedLock*> of(Address thread) const;
  // Of one that has ended, or that the JVM does not keep track of: its name and number.
  std::pair<std::string, std::int64_t> name_of(const OwnedLock& lock) const;
  // Why locks may be missing; "" where none are.
  const std::string& why() const { return why_; }

 private:
  bool walk(std::uint64_t end_ns);
  bool collected_meanwhile();
  Address owner_of(Address lock) const;

  Inspection& inspection_;
  std::vector<OwnedLock> locks_;
  std::uint64_t collections_ = 0;  // when it walked
  std::string why_;
};

// Says what may be missing, at the end of a view of threads or locks: a line, or the members `ownedComplete` and
// `ownedMissing`.
void append_why(const OwnedLocks& locks, bool json, ViewResult& result);

}  // namespace jtrace::coreinspect
