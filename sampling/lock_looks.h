// LockLooks: who has the locks that threads wait for: of monitors and of java.util.concurrent's locks (its
// AbstractOwnableSynchronizer), read in memory while the threads wait, without stopping any. Borrows the inspection.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coreinspect/model/inspection.h"

namespace jtrace::sampling {

struct LockOwner {
  std::string name;                   // "" if nobody had it
  std::uint64_t from = 0, until = 0;  // when it was read (CLOCK_MONOTONIC, ns)
};

class LockLooks {
 public:
  explicit LockLooks(const coreinspect::Inspection& inspection) : inspection_(inspection) {}

  // Whether a JavaThread waits for something that may have an owner. Takes a few reads.
  bool may_have_owner(target::Address thread) const;
  // All threads are read for a look: it may take a small part of the time.
  bool is_due() const;
  // By JavaThread, of those that wait for such a lock.
  std::map<target::Address, LockOwner> look(const std::vector<target::Address>& threads);

 private:
  target::Address monitor_of(target::Address thread) const;

  const coreinspect::Inspection& inspection_;
  std::uint64_t due_ = 0;  // CLOCK_MONOTONIC, ns
};

}  // namespace jtrace::sampling
