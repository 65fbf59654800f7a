#include "coreinspect/tools/lock_facts.h"

#include <algorithm>
#include <set>

#include "base/jdk_names.h"
#include "coreinspect/tools/circles.h"
#include "coreinspect/tools/owned_locks.h"
#include "coreinspect/tools/task_waits.h"

namespace jtrace::coreinspect {

namespace {

bool is_in_wait(const Walk& walk) {
  const auto innermost =
      std::find_if(walk.frames.begin(), walk.frames.end(), [](const Frame& frame) { return frame.method != nullptr; });
  return innermost != walk.frames.end() && innermost->method->class_name == "java.lang.Object" &&
         innermost->method->name.starts_with("wait");
}

// Where pools and timers wait for tasks; copies of the JDK's pool (Tomcat's) have the name of the class too.
bool is_idle_place(const JavaMethod& method) {
  const std::string_view type = method.class_name, name = method.name;
  return (type.ends_with(".ThreadPoolExecutor") && name == "getTask") ||
         (type == "java.util.concurrent.ForkJoinPool" && name == "awaitWork") ||
         (type == "java.util.TimerThread" && name == "mainLoop");
}

bool is_of_reference_queue(const JavaMethod& method) {
  return method.class_name == "java.lang.ref.ReferenceQueue" ||
         method.class_name == "java.lang.ref.NativeReferenceQueue";
}

// What a thread calls to wait for its next task: the JDK's queues, conditions and parks, and a pool's own queue.
bool is_part_of_wait(const JavaMethod& method) {
  return is_of_the_jdk(method.class_name) || method.name == "take" || method.name == "poll";
}

std::set<Address> locks_of(const Walk& walk) {
  std::set<Address> locked;
  for (const Frame& frame : walk.frames) locked.insert(frame.locks.begin(), frame.locks.end());
  return locked;
}

}  // namespace

std::string_view to_string(Work::Kind kind) {
  switch (kind) {
    case Work::Kind::kEnd: return "end";
    case Work::Kind::kRunning: return "task";
    case Work::Kind::kQueued: break;
  }
  return "queued";
}

std::string describe(const Work& work) {
  if (work.kind == Work::Kind::kQueued)
    return "a task in the queue of " + (work.name.empty() ? "a pool" : "the pool \"" + printable(work.name) + "\"");
  const std::string who = "\"" + printable(work.name) + "\" #" + std::to_string(work.id);
  return work.kind == Work::Kind::kEnd ? "the end of " + who : "a task that " + who + " runs";
}

void write_members(JsonWriter& json, const Work& work) {
  json.member("awaits", to_string(work.kind));
  if (work.thread != 0) json.member("awaited", work.name).member("awaitedId", work.id);
  if (work.pool != 0) json.member("pool", hex(work.pool));
  if (work.pool != 0 && !work.name.empty()) json.member("poolName", work.name);
}

std::string describe(const Wait& wait) {
  const std::string owner =
      wait.owner.empty() ? "" : "\"" + printable(wait.owner) + "\" #" + std::to_string(wait.owner_id);
  if (wait.kind == "initialisation")
    return "waiting for the initialisation of class " + printable(wait.class_name) +
           (owner.empty() ? "" : " by " + owner);
  std::string text = wait.kind == "monitor" ? "waiting to lock"
                     : wait.kind == "wait"  ? "waiting on"
                                            : "parking to wait for";
  text += " <" + hex(wait.object) + "> (a " + (wait.class_name.empty() ? "?" : printable(wait.class_name)) + ")";
  if (wait.work) text += ", for " + describe(*wait.work);
  if (owner.empty()) return text;
  return text + " owned by " + owner + (wait.owner_ended ? ", which has ended" : "");
}

bool waits_for_work(const Wait& wait, const Walk& walk) {
  if (!wait.owner.empty() || (wait.kind != "park" && wait.kind != "wait")) return false;
  bool in_references = false;
  for (const Frame& frame : walk.frames) {  // from the innermost one on: a task has frames of its own there
    if (!frame.method) continue;
    const JavaMethod& method = *frame.method;
    if (is_idle_place(method)) return true;
    if (is_of_reference_queue(method)) in_references = true;
    else if (in_references) return is_of_the_jdk(method.class_name);
    if (!is_part_of_wait(method)) return false;
  }
  return false;
}

LockFacts::LockFacts(const Inspection& inspection, const ThreadSnapshot& snapshot)
    : inspection_(inspection), snapshot_(snapshot) {
  for (const ThreadReport& report : snapshot.threads) {
    const JavaThread& java = report.java;
    if (java.address == 0) continue;
    parties_.push_back({java.address, java.object, java.id, &java.name, &report.walk, &java, nullptr});
  }
  for (const VirtualThread& thread : snapshot.virtual_threads) {
    parties_.push_back({thread.object, thread.object, thread.id, &thread.name, &thread.walk, nullptr, &thread});
    if (thread.mounted) mounted_[thread.carrier_thread] = thread.object;
  }
  for (const Party& each : parties_) {
    auto wait = each.java ? wait_of_platform(*each.java) : wait_of_virtual(each);
    if (!wait) continue;
    // It became the owner, and has not run since: it does not wait for itself.
    if (wait->owner_thread == each.key) wait->owner_thread = 0;
    complete(*wait);
    waits_[each.key] = std::move(*wait);
  }
  find_deadlocks();
}

const Wait* LockFacts::wait_of(Address thread) const {
  const auto found = waits_.find(thread);
  return found == waits_.end() ? nullptr : &found->second;
}

const LockFacts::Party* LockFacts::party(Address thread) const {
  const auto found = std::find_if(parties_.begin(), parties_.end(), [&](const Party& p) { return p.key == thread; });
  return found == parties_.end() ? nullptr : &*found;
}

// The state of a virtual thread does not tell it in JDK 21.
bool LockFacts::has_time_limit(const Party& party) {
  const auto is_timed = [](const Frame& frame) {
    return frame.method && (frame.method->name == "parkNanos" || frame.method->name == "parkUntil");
  };
  if (std::any_of(party.walk->frames.begin(), party.walk->frames.end(), is_timed)) return true;
  return (party.java ? party.java->state() : party.virtual_thread->state()) == "TIMED_WAITING";
}

Address LockFacts::runner(Address java_thread) const {
  const auto found = mounted_.find(java_thread);
  return found == mounted_.end() ? java_thread : found->second;
}

const JavaThread* LockFacts::java_of(const Party& party) const {
  if (party.java) return party.java;
  const Party* carrier = party.virtual_thread->mounted ? this->party(party.virtual_thread->carrier_thread) : nullptr;
  return carrier ? carrier->java : nullptr;
}

std::optional<Wait> LockFacts::wait_of_monitor(const JavaThread& java) const {
  const Address entered = java.entering_monitor();
  const Address monitor = entered != 0 ? entered : java.waiting_monitor;
  if (monitor == 0) return std::nullopt;
  Wait wait{.kind = entered != 0 ? "monitor" : "wait"};
  wait.object = inspection_.objects().root_field(monitor, "ObjectMonitor", "_object").value_or(0);
  if (entered != 0) wait.owner_thread = owner_of_monitor(monitor, wait.object);
  return wait;
}

std::optional<Wait> LockFacts::wait_of_platform(const JavaThread& java) const {
  if (mounted_.contains(java.address)) return std::nullopt;
  if (auto wait = wait_of_monitor(java)) return wait;
  const auto& at_stop = snapshot_.parked.blockers;
  const auto blocker = at_stop.find(java.address);
  return blocker == at_stop.end() ? wait_for_blocker(java.object) : wait_for(blocker->second, *snapshot_.headers);
}

std::optional<Wait> LockFacts::wait_of_virtual(const Party& party) const {
  const VirtualThread& thread = *party.virtual_thread;
  if (const JavaThread* java = java_of(party))
    if (auto wait = wait_of_monitor(*java)) return wait;
  if (thread.pending != 0)
    return Wait{.kind = "monitor", .object = thread.pending, .owner_thread = owner_of_object(thread.pending)};
  if (!is_in_wait(thread.walk)) return wait_for_blocker(thread.object);
  const std::set<Address> locked = locks_of(thread.walk);
  if (locked.size() != 1) return std::nullopt;
  if (thread.state() != "BLOCKED") return Wait{.kind = "wait", .object = *locked.begin()};
  // The thread was notified, and waits to enter the monitor again.
  return Wait{.kind = "monitor", .object = *locked.begin(), .owner_thread = owner_of_object(*locked.begin())};
}

// The object in java.lang.Thread.parkBlocker, as it is now.
std::optional<Wait> LockFacts::wait_for_blocker(Address thread) const {
  const auto blocker = inspection_.objects().reference(thread, "parkBlocker");
  return blocker ? wait_for(*blocker, inspection_.vm().memory()) : std::nullopt;
}

// A wait for the object at `blocker`, read from `memory`, with the thread that owns it if it is a java.util.concurrent
// synchronizer.
std::optional<Wait> LockFacts::wait_for(Address blocker, const target::MemoryReader& memory) const {
  if (blocker == 0) return std::nullopt;
  Wait wait{.kind = "park", .object = blocker};
  const ObjectModel& objects = inspection_.objects();
  const auto klass = objects.klass_in(memory, blocker);
  if (!klass) return wait;
  wait.class_name = objects.classes().name(*klass).value_or("");
  const auto field = objects.classes().find_field(*klass, "exclusiveOwnerThread");
  const auto owner = field ? objects.load_in(memory, blocker + field->offset) : Result<Address>(Address{0});
  if (!owner || *owner == 0) return wait;
  // The objects of the parties have their present addresses; the owner that was copied at the stop has that of then.
  const bool of_stop = &memory == snapshot_.headers.get();
  for (const Party& each : parties_)
    if ((!each.java || !of_stop) && each.object == *owner) wait.owner_thread = each.key;
  const auto known = snapshot_.parked.threads.find(*owner);
  if (of_stop && known != snapshot_.parked.threads.end()) wait.owner_thread = known->second;
  if (wait.owner_thread == 0) note_ended_owner(wait, *owner);
  return wait;
}

// java.lang.Thread.threadStatus, from JDK 19 on in its `holder`; TERMINATED is 2 (jvmti.h). A virtual thread has none.
void LockFacts::note_ended_owner(Wait& wait, Address owner) const {
  constexpr std::uint32_t kTerminated = 2;
  const ObjectModel& objects = inspection_.objects();
  const Address holder = objects.reference(owner, "holder").value_or(0);
  const auto status = objects.value<std::uint32_t>(holder != 0 ? holder : owner, "threadStatus");
  const auto name = objects.text_field(owner, "name");
  if (!status || *status != kTerminated || !name) return;
  wait.owner = *name;
  wait.owner_id = objects.value<std::int64_t>(owner, "tid").value_or(0);
  wait.owner_ended = true;
}

// A class that has been initialized since the stop has no lock any more: the wait is then shown as a wait on an int[].
void LockFacts::note_initialisation(Wait& wait) {
  if (wait.kind != "wait" || !may_be_init_lock(inspection_, wait.object)) return;
  if (!initialisers_) initialisers_ = class_initialisers(inspection_);
  for (const ClassInitialiser& each : *initialisers_) {
    if (!is_init_lock_of(inspection_, each, wait.object)) continue;
    wait.kind = "initialisation";
    wait.class_name = inspection_.classes().name(each.klass).value_or("?");
    wait.owner_thread = runner(each.thread);
  }
}

void LockFacts::complete(Wait& wait) {
  const ObjectModel& objects = inspection_.objects();
  note_initialisation(wait);
  if (const auto known = snapshot_.lock_classes.find(wait.object); known != snapshot_.lock_classes.end())
    if (wait.class_name.empty() && known->second != "?") wait.class_name = known->second;
  const bool named = !wait.class_name.empty();
  if (const auto klass = objects.klass_of(wait.object); klass && !named)
    wait.class_name = objects.classes().name(*klass).value_or("");
  const Party* owner = wait.owner_thread == 0 ? nullptr : party(wait.owner_thread);
  if (!owner) return;
  wait.owner = *owner->name;
  wait.owner_id = owner->id;
}

// The mark of a locked object is the address of its monitor, tagged with 2 (markWord.hpp), except with
// -XX:+UseObjectMonitorTable (24 and later).
Address LockFacts::owner_of_object(Address object) const {
  constexpr std::uint64_t kTag = 3, kMonitor = 2;
  const Vm& vm = inspection_.vm();
  const auto mark = inspection_.objects().mark(object);
  if (mark && (*mark & kTag) == kMonitor && !vm.flag_is_true("UseObjectMonitorTable"))
    return owner_of_monitor(*mark & ~kTag, object);
  const Address fast = holder_of_fast_lock(object);
  return fast != 0 ? fast : holder_by_frames(object);
}

// ObjectMonitor::_owner: up to 21 a JavaThread* or an address on the owner's stack; from 24 on the owner's id, which
// may be a virtual thread's; 1 if the owner holds the object by a fast lock, with -XX:LockingMode=1 one on its stack
// (objectMonitor.hpp).
Address LockFacts::owner_of_monitor(Address monitor, Address object) const {
  const auto owner = inspection_.vm().read_pointer(monitor, "ObjectMonitor", "_owner");
  if (!owner || *owner == 0) return 0;
  const bool by_id = inspection_.vm().types().has("JavaThread", "_monitor_owner_id");
  if (*owner == 1) {
    const Address fast = holder_of_fast_lock(object);
    return fast != 0 ? fast : holder_by_frames(object);
  }
  Address carrier = 0;
  for (const Party& each : parties_) {
    if (!each.java) {
      if (by_id && static_cast<std::uint64_t>(each.id) == *owner) return each.key;
    } else if (by_id ? each.java->monitor_owner_id == *owner
                     : each.key == *owner || each.java->has_stack_address(*owner)) {
      carrier = each.key;  // perhaps for the virtual thread that it runs
    }
  }
  return runner(carrier);
}

// The lock stack of an unmounted virtual thread is in its stack chunk; its frames have the locks too. So have those of
// platform threads; a carrier has also those of the virtual thread that it runs.
Address LockFacts::holder_by_frames(Address object) const {
  for (const Party& each : parties_)
    if (has_among_frames(each, object)) return each.java ? runner(each.key) : each.key;
  return 0;
}

// The frame of a thread that waits for a monitor has the object in its list too.
bool LockFacts::has_among_frames(const Party& party, Address object) const {
  const std::set<Address> locked = locks_of(*party.walk);
  if (object == 0 || !locked.contains(object)) return false;
  const JavaThread* java = java_of(party);
  if (!java) return locked.size() > 1 || !is_in_wait(*party.walk);
  const auto is_of_object = [&](Address monitor) {
    return monitor != 0 && inspection_.objects().root_field(monitor, "ObjectMonitor", "_object").value_or(0) == object;
  };
  return !is_of_object(java->pending_monitor) && !is_of_object(java->waiting_monitor);
}

// LockStack (lockStack.hpp, 21 and later): _top is an offset from the JavaThread, _base the objects.
Address LockFacts::holder_of_fast_lock(Address object) const {
  const Vm& vm = inspection_.vm();
  const auto stack = vm.types().offset("JavaThread", "_lock_stack");
  const auto base = vm.types().offset("LockStack", "_base[0]");
  if (!stack || !base || object == 0) return 0;
  for (const Party& each : parties_) {
    if (!each.java) continue;
    const Address at = each.key + *stack;
    const auto top = vm.read_field<std::uint32_t>(at, "LockStack", "_top");
    if (!top || *top < *stack + *base || *top > *stack + *base + 8 * 64) continue;
    for (Address slot = at + *base; slot < each.key + *top; slot += 8) {
      const auto held = vm.memory().read<Address>(slot);
      if (held && inspection_.objects().from_stack(*held) == object) return runner(each.key);
    }
  }
  return 0;
}

void LockFacts::find_deadlocks() {
  std::map<Address, Address> owners;
  for (const auto& [thread, wait] : waits_)
    if (wait.kind != "wait" && wait.owner_thread != 0) owners[thread] = wait.owner_thread;
  deadlocks_ = circles_in(owners);
}

std::string LockFacts::name_of(const Pool& pool) const {
  std::vector<std::string> names;
  for (const Address each : pool.threads)
    if (const Party* thread = party(each)) names.push_back(*thread->name);
  return pool_name(names);
}

void LockFacts::note(const TaskWaits& tasks) {
  std::map<Address, std::string> pools;
  for (const Pool& each : tasks.pools) pools[each.object] = name_of(each);
  for (const auto& [thread, work] : tasks.works) {
    const auto wait = waits_.find(thread);
    if (wait == waits_.end()) continue;
    wait->second.work = work;
    if (const auto pool = pools.find(work.pool); pool != pools.end()) wait->second.work->name = pool->second;
    if (const Party* other = party(work.thread)) {
      wait->second.work->name = *other->name;
      wait->second.work->id = other->id;
    }
  }
  find_task_circles();
}

void LockFacts::find_task_circles() {
  std::map<Address, Address> next;
  for (const auto& [thread, wait] : waits_) {
    const Address other = wait.work ? wait.work->thread : wait.kind != "wait" ? wait.owner_thread : 0;
    if (other != 0 && !has_time_limit(*party(thread))) next[thread] = other;
  }
  task_circles_ = circles_in(next);
  std::erase_if(task_circles_, [&](const std::vector<Address>& circle) {
    return std::none_of(circle.begin(), circle.end(), [&](Address each) { return waits_.at(each).work.has_value(); });
  });
}

}  // namespace jtrace::coreinspect
