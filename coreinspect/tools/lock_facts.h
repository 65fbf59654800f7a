// What threads wait for, and who has it: monitors and java.util.concurrent synchronizers.
//
// Of the threads of a snapshot. The owner is left out where this JVM's way of locking does not tell it (fast locks are
// looked up in the lock stacks and by stack address). Threads: one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::coreinspect {

struct Wait {
  std::string kind;        // "monitor" (to enter), "wait" (Object.wait), "park" (blocker)
  std::string class_name;  // of the object; "" where it could not be read
  Address object = 0;
  std::string owner;  // name of the thread that has it; "" where none or unknown
  std::int64_t owner_id = 0;
  Address owner_thread = 0;  // JavaThread
};
std::string describe(const Wait& wait);

class LockFacts {
 public:
  LockFacts(const Inspection& inspection, const ThreadSnapshot& snapshot);
  const Wait* wait_of(Address java_thread) const;  // null where it waits for nothing that is known
  // Each cycle once: the threads in the order of "waits for". Only waits that block (monitor, park with an owner).
  const std::vector<std::vector<Address>>& deadlocks() const { return deadlocks_; }

 private:
  void add(const ThreadReport& report);
  Address owner_of_monitor(Address monitor, Address object) const;
  Address holder_of_fast_lock(Address object) const;
  void find_deadlocks();

  const Inspection& inspection_;
  const ThreadSnapshot& snapshot_;
  std::map<Address, Wait> waits_;
  std::vector<std::vector<Address>> deadlocks_;
};

}  // namespace jtrace::coreinspect
