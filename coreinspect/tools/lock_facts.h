// What threads wait for, and who owns it: monitors, java.util.concurrent synchronizers, classes that are being
// initialized.
//
// Covers the threads of a snapshot, platform and virtual. What the carrier of a mounted virtual thread waits for, and
// has, is the virtual thread's. The owner is left out if this JVM's locking does not record
// it (the owners of fast locks are looked up in the lock stacks, by stack address, and in the frames). What an
// unmounted virtual thread waits for in Object.wait is known only if its frames lock a single object. Of a live target,
// what platform threads wait for and who owns it is of the moment of the stop; of unmounted virtual threads it is read
// after it. Borrows inspection and snapshot. Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "coreinspect/tools/class_initialisers.h"
#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::coreinspect {

// What another thread has to do before a wait ends (task_waits.h).
struct Work {
  enum class Kind : std::uint8_t { kEnd, kRunning, kQueued };
  Kind kind = Kind::kEnd;
  Address thread = 0;  // LockFacts::Party::key: the thread that has to end, or runs the task; 0 with kQueued
  Address pool = 0;    // with kQueued the ThreadPoolExecutor in whose queue the task is
  std::string name;    // of the thread, or of the pool (pool_name); "" if it has none
  std::int64_t id = 0;
};
std::string_view to_string(Work::Kind kind);  // "end", "task", "queued"
std::string describe(const Work& work);       // what is waited for: `the end of "main" #1`
void write_members(JsonWriter& json, const Work& work);

struct Pool;
struct TaskWaits;

struct Wait {
  std::string kind;  // "monitor" (to enter), "wait" (Object.wait), "park" (blocker), "initialisation" (of a class)
  std::string class_name;  // of the object, or the class that is initialised; "" where it could not be read
  Address object = 0;
  std::string owner;  // name of the owning thread; "" if none or unknown
  std::int64_t owner_id = 0;
  Address owner_thread = 0;  // LockFacts::Party::key
  bool owner_ended = false;  // it is a thread that has ended: nobody can give it back
  std::optional<Work> work;  // where it is known (LockFacts::note)
};
std::string describe(const Wait& wait);
// A pool's or timer's thread without a task, one of the JDK's own that waits for references: nobody keeps it waiting.
// Who takes from a queue elsewhere may wait for a connection or an answer that does not come.
bool waits_for_work(const Wait& wait, const Walk& walk);

class LockFacts {
 public:
  LockFacts(const Inspection& inspection, const ThreadSnapshot& snapshot);
  // Null if it waits for nothing that is known. `thread`: ThreadReport::java.address or VirtualThread::object.
  const Wait* wait_of(Address thread) const;
  // Each cycle once: its threads in the order of "waits for". Only waits that block (monitor, park with an owner,
  // initialization).
  const std::vector<std::vector<Address>>& deadlocks() const { return deadlocks_; }
  std::string name_of(const Pool& pool) const;
  // Adds to the waits the work that they are for.
  void note(const TaskWaits& tasks);
  // The circles of waits for locks and for work that have at least one of the latter, as deadlocks(); waits with a time
  // limit are in none. Of a live target the work was looked at after the stop: a circle is certain if it is there
  // twice.
  const std::vector<std::vector<Address>>& task_circles() const { return task_circles_; }

  // A thread of the snapshot, of either kind.
  struct Party {
    Address key;  // the argument of wait_of()
    Address object;
    std::int64_t id;
    const std::string* name;
    const Walk* walk;
    const JavaThread* java;               // null: virtual
    const VirtualThread* virtual_thread;  // null: platform
  };
  const std::vector<Party>& parties() const { return parties_; }  // in the order of the snapshot
  const Party* party(Address thread) const;
  static bool has_time_limit(const Party& party);
  // The key of the virtual thread that this JavaThread runs, else its own.
  Address runner(Address java_thread) const;

 private:
  std::optional<Wait> wait_of_platform(const JavaThread& java) const;
  std::optional<Wait> wait_of_virtual(const Party& party) const;
  std::optional<Wait> wait_of_monitor(const JavaThread& java) const;
  const JavaThread* java_of(const Party& party) const;  // of a mounted virtual thread its carrier; null: none
  std::optional<Wait> wait_for_blocker(Address thread) const;
  std::optional<Wait> wait_for(Address blocker, const target::MemoryReader& memory) const;
  void note_ended_owner(Wait& wait, Address owner) const;
  void complete(Wait& wait);
  void note_initialisation(Wait& wait);
  Address owner_of_object(Address object) const;
  Address owner_of_monitor(Address monitor, Address object) const;
  Address holder_of_fast_lock(Address object) const;
  Address holder_by_frames(Address object) const;
  bool has_among_frames(const Party& party, Address object) const;
  void find_deadlocks();
  void find_task_circles();

  const Inspection& inspection_;
  const ThreadSnapshot& snapshot_;
  std::vector<Party> parties_;
  std::map<Address, Address> mounted_;  // virtual threads by their carriers
  std::map<Address, Wait> waits_;
  std::vector<std::vector<Address>> deadlocks_, task_circles_;
  std::optional<std::vector<ClassInitialiser>> initialisers_;  // read when first needed
};

}  // namespace jtrace::coreinspect
