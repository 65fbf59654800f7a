// What threads wait for, and who has it: monitors, java.util.concurrent synchronizers, classes being initialised.
//
// Of the threads of a snapshot, platform and virtual ones. The owner is left out where this JVM's way of locking does
// not tell it (fast locks are looked up in the lock stacks, by stack address and in the frames). What a virtual thread
// that is not mounted waits on in Object.wait is known where its frames lock one object only. Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coreinspect/tools/class_initialisers.h"
#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::coreinspect {

struct Wait {
  std::string kind;  // "monitor" (to enter), "wait" (Object.wait), "park" (blocker), "initialisation" (of a class)
  std::string class_name;  // of the object, or the class that is initialised; "" where it could not be read
  Address object = 0;
  std::string owner;  // name of the thread that has it; "" where none or unknown
  std::int64_t owner_id = 0;
  Address owner_thread = 0;  // LockFacts::Party::key
};
std::string describe(const Wait& wait);

class LockFacts {
 public:
  LockFacts(const Inspection& inspection, const ThreadSnapshot& snapshot);
  // Null where it waits for nothing that is known. `thread`: ThreadReport::java.address or VirtualThread::object.
  const Wait* wait_of(Address thread) const;
  // Each cycle once: the threads in the order of "waits for". Only waits that block (monitor, park with an owner,
  // initialisation).
  const std::vector<std::vector<Address>>& deadlocks() const { return deadlocks_; }

  // A thread of the snapshot, of either kind.
  struct Party {
    Address key;  // as wait_of() takes it
    Address object;
    std::int64_t id;
    const std::string* name;
    const Walk* walk;
    const JavaThread* java;               // null: virtual
    const VirtualThread* virtual_thread;  // null: platform
  };
  const std::vector<Party>& parties() const { return parties_; }  // in the order of the snapshot
  const Party* party(Address thread) const;

 private:
  std::optional<Wait> wait_of_platform(const JavaThread& java) const;
  std::optional<Wait> wait_of_virtual(const VirtualThread& thread) const;
  std::optional<Wait> wait_for_blocker(Address thread) const;
  void complete(Wait& wait);
  void tell_initialisation(Wait& wait);
  Address owner_of_object(Address object) const;
  Address owner_of_monitor(Address monitor, Address object) const;
  Address holder_of_fast_lock(Address object) const;
  Address holder_by_frames(Address object) const;
  void find_deadlocks();

  const Inspection& inspection_;
  std::vector<Party> parties_;
  std::map<Address, Wait> waits_;
  std::vector<std::vector<Address>> deadlocks_;
  std::optional<std::vector<ClassInitialiser>> initialisers_;  // when first asked for
};

}  // namespace jtrace::coreinspect
