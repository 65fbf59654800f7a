#include "coreinspect/tools/task_waits.h"

#include <algorithm>
#include <map>
#include <set>

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMostTasks = 10'000;  // of a queue, and of those who wait for one CompletableFuture

using Party = LockFacts::Party;

// Neither calls anything but what it waits with.
bool is_in(const Walk& walk, std::string_view type, std::string_view name) {
  return std::any_of(walk.frames.begin(), walk.frames.end(), [&](const Frame& frame) {
    return frame.method && frame.method->class_name == type && frame.method->name == name;
  });
}

bool has_time_limit(const Party& party) {
  return (party.java ? party.java->state() : party.virtual_thread->state()) == "TIMED_WAITING";
}

// The fields of objects in the present heap. 0 stands for null, for a field that this JDK does not have, and for what
// cannot be read.
class Fields {
 public:
  explicit Fields(const Inspection& inspection) : objects_(inspection.objects()) {}

  Address reference(Address object, std::string_view name) const {
    return object == 0 ? 0 : objects_.reference(object, name).value_or(0);
  }
  std::int32_t number(Address object, std::string_view name) const {
    return object == 0 ? 0 : objects_.value<std::int32_t>(object, name).value_or(0);
  }
  std::string class_of(Address object) const {
    const auto klass = object == 0 ? Result<Address>(Address{0}) : objects_.klass_of(object);
    return klass && *klass != 0 ? objects_.classes().name(*klass).value_or("") : "";
  }
  // Those of an array that are not null, at most kMostTasks.
  std::vector<Address> elements(Address array) const {
    std::vector<Address> found;
    const std::uint32_t length = array == 0 ? 0 : objects_.array_length(array).value_or(0);
    for (std::uint32_t i = 0; i < length && found.size() < kMostTasks; ++i)
      if (const Address element = objects_.element(array, i).value_or(0); element != 0) found.push_back(element);
    return found;
  }
  // The values of `value` along a chain that begins at `first`.
  std::vector<Address> chain(Address first, std::string_view value) const {
    std::vector<Address> found;
    for (Address at = first; at != 0 && found.size() < kMostTasks; at = reference(at, "next"))
      found.push_back(value.empty() ? at : reference(at, value));
    return found;
  }

 private:
  const ObjectModel& objects_;
};

// java.lang.Thread.target, from JDK 19 on in its `holder`; and of it the pool that it works for.
Address pool_of(const Fields& fields, Address thread) {
  const Address holder = fields.reference(thread, "holder");
  const Address target = holder != 0 ? fields.reference(holder, "task") : fields.reference(thread, "target");
  return fields.class_of(target) == "java.util.concurrent.ThreadPoolExecutor$Worker"
             ? fields.reference(target, "this$0")
             : 0;
}

// LinkedBlockingQueue has nodes; ArrayBlockingQueue, PriorityBlockingQueue and the queue of a
// ScheduledThreadPoolExecutor have arrays.
std::vector<Address> queue_of(const Fields& fields, Address pool) {
  const Address queue = fields.reference(pool, "workQueue");
  if (const Address head = fields.reference(queue, "head"); head != 0) return fields.chain(head, "item");
  const Address items = fields.reference(queue, "items");
  return fields.elements(items != 0 ? items : fields.reference(queue, "queue"));
}

// What a thread may be parked for until `task` has been run: the task itself, or one of the chain of those who wait for
// the CompletableFuture that it completes.
void add_blockers(const Fields& fields, Address task, std::set<Address>& blockers) {
  blockers.insert(task);
  for (const Address each : fields.chain(fields.reference(fields.reference(task, "dep"), "stack"), ""))
    blockers.insert(each);
}

class Search {
 public:
  Search(const Inspection& inspection, const LockFacts& locks) : fields_(inspection), locks_(locks) {
    for (const Party& each : locks.parties()) by_object_[each.object] = each.key;
  }

  TaskWaits run() {
    for (const Party& each : locks_.parties())
      if (const Wait* wait = locks_.wait_of(each.key); wait && !has_time_limit(each)) look_at(each, *wait);
    return std::move(found_);
  }

 private:
  void look_at(const Party& party, const Wait& wait) {
    if (wait.kind == "wait" && is_in(*party.walk, "java.lang.Thread", "join"))
      return add(TaskWait::Kind::kEnd, party, key_of(wait.object));
    if (wait.kind != "park" || wait.owner_thread != 0) return;
    const bool future = is_in(*party.walk, "java.util.concurrent.FutureTask", "awaitDone");
    if (!future && !wait.class_name.starts_with("java.util.concurrent.CompletableFuture$")) return;
    const Address task = fields_.reference(party.object, "parkBlocker");
    if (task == 0) return;
    if (const Address runner = future ? fields_.reference(task, "runner") : 0; runner != 0)
      return add(TaskWait::Kind::kRunning, party, key_of(runner));
    if (const Address pool = pool_with(task); pool != 0) add(TaskWait::Kind::kQueued, party, 0, pool);
  }

  void add(TaskWait::Kind kind, const Party& waiter, Address awaited, Address pool = 0) {
    if (awaited == 0 && pool == 0) return;
    found_.waits.push_back({.kind = kind, .waiter = waiter.key, .awaited = awaited, .pool = pool});
  }

  Address key_of(Address thread) const {
    const auto found = by_object_.find(thread);
    return found == by_object_.end() ? 0 : found->second;
  }

  // The pool that has the task in its queue; 0: none is known.
  Address pool_with(Address task) {
    if (!queued_) read_pools();
    for (const auto& [pool, blockers] : *queued_)
      if (blockers.contains(task)) return pool;
    return 0;
  }

  void read_pools() {
    queued_.emplace();
    std::map<Address, std::vector<Address>> threads;
    for (const Party& each : locks_.parties())
      if (const Address pool = pool_of(fields_, each.object); pool != 0) threads[pool].push_back(each.key);
    for (auto& [pool, workers] : threads) {
      for (const Address task : queue_of(fields_, pool)) add_blockers(fields_, task, (*queued_)[pool]);
      add_pool(pool, std::move(workers));
    }
  }

  // ThreadPoolExecutor.ctl: the number of threads in its lower 29 bits.
  void add_pool(Address pool, std::vector<Address> workers) {
    const std::int32_t count = fields_.number(fields_.reference(pool, "ctl"), "value") & ((1 << 29) - 1);
    if (count != static_cast<std::int32_t>(workers.size())) return;
    const bool may_grow = count < fields_.number(pool, "maximumPoolSize");
    found_.pools.push_back({.object = pool, .threads = std::move(workers), .may_grow = may_grow});
  }

  Fields fields_;
  const LockFacts& locks_;
  std::map<Address, Address> by_object_;                        // Party::key by Party::object
  std::optional<std::map<Address, std::set<Address>>> queued_;  // by the pool; read when first needed
  TaskWaits found_;
};

}  // namespace

TaskWaits task_waits(const Inspection& inspection, const LockFacts& locks) { return Search(inspection, locks).run(); }

}  // namespace jtrace::coreinspect
