#include "coreinspect/tools/task_waits.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace jtrace::coreinspect {
namespace {

// The heap changes while it is read, and may hold anything: of more than this nothing is said.
constexpr std::size_t kMostTasks = 10'000;       // of a queue
constexpr std::size_t kMostReferences = 60'000;  // in all

using Party = LockFacts::Party;

// Neither calls anything but what it waits with.
bool is_in(const Walk& walk, std::string_view type, std::string_view name) {
  return std::any_of(walk.frames.begin(), walk.frames.end(), [&](const Frame& frame) {
    return frame.method && frame.method->class_name == type && frame.method->name == name;
  });
}

// The fields of objects in the present heap. 0 stands for null, for a field that this JDK does not have, and for what
// cannot be read.
class Fields {
 public:
  explicit Fields(const Inspection& inspection) : objects_(inspection.objects()) {}

  Address reference(Address object, std::string_view name) const {
    if (object == 0 || left_ == 0) return 0;
    --left_;
    return objects_.reference(object, name).value_or(0);
  }
  std::int32_t number(Address object, std::string_view name) const {
    return object == 0 ? 0 : objects_.value<std::int32_t>(object, name).value_or(0);
  }
  std::string class_of(Address object) const {
    const auto klass = object == 0 ? Result<Address>(Address{0}) : objects_.klass_of(object);
    return klass && *klass != 0 ? objects_.classes().name(*klass).value_or("") : "";
  }
  // `count` of an array from `first` on, around its end.
  std::vector<Address> elements(Address array, std::int32_t first, std::int32_t count) const {
    std::vector<Address> found;
    const std::uint32_t length = array == 0 ? 0 : objects_.array_length(array).value_or(0);
    const auto most = std::min<std::size_t>(count < 0 ? 0 : static_cast<std::size_t>(count), kMostTasks);
    for (std::size_t i = 0; length != 0 && i < std::min<std::size_t>(most, length) && left_ > 0; ++i, --left_)
      found.push_back(
          objects_.element(array, static_cast<std::uint32_t>((static_cast<std::uint32_t>(first) + i) % length))
              .value_or(0));
    return found;
  }
  // The values of `value` along a chain that begins at `first`.
  std::vector<Address> chain(Address first, std::string_view value) const {
    std::vector<Address> found;
    // A node that was taken out refers to itself.
    for (Address at = first, next = 0; at != 0 && found.size() < kMostTasks; at = next) {
      found.push_back(value.empty() ? at : reference(at, value));
      next = reference(at, "next");
      if (next == at) break;
    }
    return found;
  }

 private:
  const ObjectModel& objects_;
  mutable std::size_t left_ = kMostReferences;
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
  if (const Address items = fields.reference(queue, "items"); items != 0)
    return fields.elements(items, fields.number(queue, "takeIndex"), fields.number(queue, "count"));
  return fields.elements(fields.reference(queue, "queue"), 0, fields.number(queue, "size"));
}

// The number of tasks in it: a LinkedBlockingQueue has an AtomicInteger.
std::optional<std::uint64_t> size_of_queue(const Fields& fields, Address pool) {
  const Address queue = fields.reference(pool, "workQueue");
  std::int32_t size = -1;
  if (fields.reference(queue, "head") != 0) {
    const Address count = fields.reference(queue, "count");
    if (count != 0) size = fields.number(count, "value");
  } else if (fields.reference(queue, "items") != 0) size = fields.number(queue, "count");
  else if (fields.reference(queue, "queue") != 0) size = fields.number(queue, "size");
  return size < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(size));
}

bool is_scheduled(const Fields& fields, Address pool) {
  return fields.class_of(fields.reference(pool, "workQueue")) ==
         "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue";
}

// Only then a pool starts threads beyond its core.
bool may_be_full(const Fields& fields, Address queue) {
  const std::int32_t capacity = fields.number(queue, "capacity");
  return fields.reference(queue, "items") != 0 || (capacity != 0 && capacity != INT32_MAX);
}

// What a thread may be parked for until `task` has been run: the task itself, or one of the chain of those who wait for
// the CompletableFuture that it completes.
void add_blockers(const Fields& fields, Address task, std::set<Address>& blockers) {
  blockers.insert(task);
  for (const Address each : fields.chain(fields.reference(fields.reference(task, "dep"), "stack"), ""))
    blockers.insert(each);
}

// CompletableFuture.orTimeout() and completeOnTimeout(): what ends the timer is among those who wait for the future,
// after those who came later.
bool ends_by_a_timer(const Fields& fields, Address waiter) {
  const std::vector<Address> chain = fields.chain(waiter, "");
  return std::any_of(chain.begin(), chain.end(), [&](Address each) {
    return fields.class_of(fields.reference(each, "fn")) == "java.util.concurrent.CompletableFuture$Canceller";
  });
}

class Search {
 public:
  Search(const Inspection& inspection, const LockFacts& locks) : fields_(inspection), locks_(locks) {
    for (const Party& each : locks.parties()) by_object_[each.object] = each.key;
  }

  TaskWaits run() {
    for (const Party& each : locks_.parties())
      if (const Wait* wait = locks_.wait_of(each.key); wait) look_at(each, *wait);
    for (auto& [pool, workers] : workers_of_pools()) add_pool(pool, std::move(workers));
    return std::move(found_);
  }

 private:
  void look_at(const Party& party, const Wait& wait) {
    const bool limited = LockFacts::has_time_limit(party);
    if (wait.kind == "wait" && !limited && is_in(*party.walk, "java.lang.Thread", "join"))
      return add(Work::Kind::kEnd, party, key_of(wait.object));
    if (wait.kind != "park" || wait.owner_thread != 0) return;
    const bool future = is_in(*party.walk, "java.util.concurrent.FutureTask", "awaitDone");
    if (!future && !wait.class_name.starts_with("java.util.concurrent.CompletableFuture$")) return;
    const Address task = fields_.reference(party.object, "parkBlocker");
    if (task == 0) return;
    if (const Address runner = future ? fields_.reference(task, "runner") : 0; runner != 0)
      return add(Work::Kind::kRunning, party, key_of(runner));
    if (!future && ends_by_a_timer(fields_, task)) return;
    if (const Address pool = pool_with(task); pool != 0) add(Work::Kind::kQueued, party, 0, pool);
  }

  void add(Work::Kind kind, const Party& waiter, Address awaited, Address pool = 0) {
    // Thread.currentThread().join() is how a main thread is kept alive.
    if ((awaited == 0 && pool == 0) || awaited == waiter.key) return;
    found_.works[waiter.key] = {.kind = kind, .thread = awaited, .pool = pool, .name = {}};
  }

  Address key_of(Address thread) const {
    const auto found = by_object_.find(thread);
    return found == by_object_.end() ? 0 : found->second;
  }

  // The pool that has the task in its queue; 0: none is known.
  Address pool_with(Address task) {
    if (!queued_) read_queues();
    for (const auto& [pool, blockers] : *queued_)
      if (blockers.contains(task)) return pool;
    return 0;
  }

  std::map<Address, std::vector<Address>>& workers_of_pools() {
    if (workers_) return *workers_;
    workers_.emplace();
    for (const Party& each : locks_.parties())
      if (const Address pool = pool_of(fields_, each.object); pool != 0) (*workers_)[pool].push_back(each.key);
    return *workers_;
  }

  void read_queues() {
    queued_.emplace();
    for (const auto& each : workers_of_pools())
      for (const Address task : queue_of(fields_, each.first)) add_blockers(fields_, task, (*queued_)[each.first]);
  }

  // ThreadPoolExecutor.ctl: the number of threads in its lower 29 bits.
  void add_pool(Address pool, std::vector<Address> workers) {
    const std::int32_t count = fields_.number(fields_.reference(pool, "ctl"), "value") & ((1 << 29) - 1);
    if (count != static_cast<std::int32_t>(workers.size())) return;
    const bool may_grow =
        count < fields_.number(pool, "maximumPoolSize") && may_be_full(fields_, fields_.reference(pool, "workQueue"));
    found_.pools.push_back({.object = pool,
                            .threads = std::move(workers),
                            .may_grow = may_grow,
                            .queued = size_of_queue(fields_, pool),
                            .is_scheduled = is_scheduled(fields_, pool)});
  }

  Fields fields_;
  const LockFacts& locks_;
  std::map<Address, Address> by_object_;  // Party::key by Party::object
  // By the pool; read when first needed.
  std::optional<std::map<Address, std::vector<Address>>> workers_;
  std::optional<std::map<Address, std::set<Address>>> queued_;
  TaskWaits found_;
};

}  // namespace

std::string pool_name(const std::vector<std::string>& threads) {
  std::optional<std::string> common;
  for (std::string name : threads) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
    if (common && *common != name) return "";
    common = name;
  }
  return common && !common->empty() ? *common + "*" : "";
}

TaskWaits task_waits(const Inspection& inspection, const LockFacts& locks) { return Search(inspection, locks).run(); }

}  // namespace jtrace::coreinspect
