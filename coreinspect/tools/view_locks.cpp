// The view `locks`: circles of threads that wait for each other, through locks of all kinds; who waits for what, and
// who has it.
#include <algorithm>
#include <iterator>

#include "base/joined.h"
#include "base/strings.h"
#include "coreinspect/tools/lock_graph.h"
#include "coreinspect/tools/owned_locks.h"
#include "coreinspect/tools/pool_circles.h"
#include "coreinspect/tools/safepoint_report.h"
#include "coreinspect/tools/task_waits.h"
#include "coreinspect/tools/thread_groups.h"
#include "coreinspect/tools/vm_waits.h"

namespace jtrace::coreinspect {
namespace {

bool is_waited_for(const LockFacts& facts, Address lock) {
  return std::any_of(facts.parties().begin(), facts.parties().end(), [&](const LockFacts::Party& each) {
    const Wait* wait = facts.wait_of(each.key);
    return wait != nullptr && wait->object == lock;
  });
}

// A pool's thread owns its worker while it runs a task.
bool is_of_pool(const OwnedLock& lock) { return lock.class_name == "java.util.concurrent.ThreadPoolExecutor$Worker"; }

// Lists what threads own; a thread that ended may still own something. In the text one line has all workers of pools
// that nobody waits for.
void append_owned_locks(const OwnedLocks& owned, const LockFacts& facts, JsonWriter* json, std::string& out) {
  std::vector<ThreadLabel> at_work;
  for (const OwnedLock& lock : owned.all()) {
    const auto alive = std::find_if(facts.parties().begin(), facts.parties().end(),
                                    [&](const LockFacts::Party& party) { return party.object == lock.owner; });
    const bool known = alive != facts.parties().end();
    const auto [name, id] = known ? std::pair(*alive->name, alive->id) : owned.name_of(lock);
    if (!json && known && is_of_pool(lock) && !is_waited_for(facts, lock.object)) {
      at_work.push_back({name, id});
      continue;
    }
    if (json) {
      json->begin_object().member("thread", name).member("threadId", id).member("kind", "owned");
      json->member("object", hex(lock.object)).member("class", lock.class_name);
      if (!known) json->member("listed", false);
      json->end_object();
    } else {
      out += "\"" + printable(name) + "\" #" + std::to_string(id) + " owns <" + hex(lock.object) + "> (a " +
             printable(lock.class_name) + ")" + (known ? "" : ", and is not among the threads that the JVM lists") +
             "\n";
    }
  }
  if (!at_work.empty())
    out += counted(at_work.size(), "thread") +
           (at_work.size() == 1 ? " of a pool runs a task and owns its Worker: "
                                : " of pools run a task and own their Worker: ") +
           joined(name_families(at_work)) + "\n";
}

void write_wait(const LockFacts::Party& party, const Wait& wait, bool for_work, JsonWriter& json) {
  json.begin_object().member("thread", *party.name).member("threadId", party.id).member("kind", wait.kind);
  json.member("object", hex(wait.object)).member("class", wait.class_name);
  if (!wait.owner.empty()) json.member("owner", wait.owner).member("ownerId", wait.owner_id);
  if (wait.work) write_members(json, *wait.work);
  if (for_work) json.member("forWork", true);
  json.end_object();
}

// Threads that wait for work: in the text one line has them all.
void append_waits(const LockFacts& locks, bool for_work, JsonWriter* json, std::string& out) {
  std::vector<ThreadLabel> names;
  for (const LockFacts::Party& each : locks.parties()) {
    const Wait* wait = locks.wait_of(each.key);
    if (!wait || waits_for_work(*wait, *each.walk) != for_work) continue;
    if (json) write_wait(each, *wait, for_work, *json);
    else if (for_work) names.push_back({*each.name, each.id});
    else out += "\"" + printable(*each.name) + "\" #" + std::to_string(each.id) + " " + describe(*wait) + "\n";
  }
  if (!names.empty())
    out += counted(names.size(), "thread") +
           " without work, waiting in a queue or pool: " + joined(name_families(names)) + "\n";
}

std::string named(const MutexParty& party) {
  return (party.name.empty() ? "a thread" : "\"" + printable(party.name) + "\"") + " nid=" + std::to_string(party.nid);
}

void append_mutex_waits(const std::vector<MutexRow>& rows, JsonWriter* json, std::string& out) {
  for (const MutexRow& row : rows)
    for (const MutexParty& each : row.waiters) {
      const std::string lock = row.name.empty() ? "a mutex of native code" : row.name;
      if (!json) {
        out += named(each) + " waiting to lock <" + hex(row.address) + "> (" + printable(lock) + ") owned by " +
               named(*row.owner) + "\n";
        continue;
      }
      json->begin_object().member("thread", each.name).member("nativeId", each.nid).member("kind", "mutex");
      json->member("object", hex(row.address)).member("class", row.name.empty() ? "native mutex" : row.name);
      json->member("owner", row.owner->name).member("ownerNativeId", row.owner->nid).end_object();
    }
}

void append_vm_waits(const std::vector<VmWait>& waits, JsonWriter* json, std::string& out) {
  for (const VmWait& each : waits) {
    if (!json) {
      const LockParty waiter = each.waiter.value_or(LockParty{});
      out += (each.waiter ? named({.nid = waiter.nid, .name = waiter.name}) : "a collection") + " " + describe(each) +
             "\n";
      continue;
    }
    json->begin_object();
    if (each.waiter) json->member("thread", each.waiter->name).member("nativeId", each.waiter->nid);
    json->member("kind", each.kind);
    if (!each.operation.empty()) json->member("operation", each.operation);
    if (!each.requester.empty()) json->member("requester", each.requester);
    if (each.owner) json->member("owner", each.owner->name).member("ownerNativeId", each.owner->nid);
    if (each.regions) json->member("criticalRegions", *each.regions);
    json->end_object();
  }
}

using Names = std::vector<ThreadLabel>;

void write_names(JsonWriter& json, const Names& names) {
  json.key("threads").begin_array();
  for (const ThreadLabel& each : names) json.value(each.name);
  json.end_array().key("threadIds").begin_array();  // 0: not known
  for (const ThreadLabel& each : names) json.value(each.id);
  json.end_array();
}

void append_circle(const Names& names, JsonWriter* json, std::string& out) {
  if (json) {
    write_names(json->begin_object().member("kind", "deadlock"), names);
    json->end_object();
    return;
  }
  out += "deadlock:";
  for (const ThreadLabel& each : names) out += " " + each.text() + " ->";
  out += " " + names.front().text() + "\n";
}

Names names_of(const std::vector<Address>& circle, const LockFacts& locks) {
  Names names;
  for (const Address thread : circle) names.push_back({*locks.party(thread)->name, locks.party(thread)->id});
  return names;
}

using Circles = std::vector<std::vector<Address>>;

// A collection moves virtual threads: only the ids stay.
std::vector<std::int64_t> ids_of(const std::vector<Address>& circle, const LockFacts& locks) {
  std::vector<std::int64_t> ids;
  for (const Address thread : circle) ids.push_back(locks.party(thread)->id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

// A circle through the queues of pools. None with a pool that may start more threads.
struct PoolNames {
  Names others;
  std::vector<Pool> pools;
};

std::vector<PoolNames> pool_circles_of(const LockFacts& locks, const TaskWaits& tasks) {
  std::vector<PoolNames> named;
  for (const PoolCircle& circle : pool_circles(pool_waits(locks, tasks))) {
    PoolNames& names = named.emplace_back();
    names.others = names_of(circle.others, locks);
    std::copy_if(tasks.pools.begin(), tasks.pools.end(), std::back_inserter(names.pools), [&](const Pool& each) {
      return std::find(circle.pools.begin(), circle.pools.end(), each.object) != circle.pools.end();
    });
    if (std::any_of(names.pools.begin(), names.pools.end(), [](const Pool& each) { return each.may_grow; }))
      named.pop_back();
  }
  return named;
}

void append_pool_circle(const PoolNames& circle, const LockFacts& locks, JsonWriter* json, std::string& out) {
  Names all = circle.others;
  for (const Pool& pool : circle.pools)
    for (ThreadLabel& each : names_of(pool.threads, locks)) all.push_back(std::move(each));
  if (!json) {
    out += "deadlock: " + joined(name_families(all)) + " wait for each other through the queue of";
    for (const Pool& pool : circle.pools)
      out += (out.ends_with(" of") ? "" : ",") + std::string(" the pool <") + hex(pool.object) + ">";
    out += ", whose threads are all among them\n";
    return;
  }
  write_names(json->begin_object().member("kind", "deadlock"), all);
  json->key("pools").begin_array();
  for (const Pool& pool : circle.pools) json->value(hex(pool.object));
  json->end_array().end_object();
}

struct TaskCircles {
  Circles circles;
  std::vector<PoolNames> of_pools;
};

// Whom a thread waits for is read after the stop: of a running JVM only the circles are kept that are there once more.
Result<TaskCircles> task_circles(Inspection& inspection, const LockFacts& locks, const TaskWaits& tasks,
                                 const ViewOptions& options) {
  TaskCircles found{.circles = locks.task_circles(), .of_pools = pool_circles_of(locks, tasks)};
  auto& circles = found.circles;
  if ((circles.empty() && found.of_pools.empty()) || inspection.target().process() == nullptr) return found;
  JTRACE_ASSIGN_OR_RETURN(const ThreadSnapshot again, take_thread_snapshot(inspection, {.max_stop = options.max_stop}));
  LockFacts later(inspection, again);
  const TaskWaits later_tasks = task_waits(inspection, later);
  later.note(later_tasks);
  std::erase_if(circles, [&](const std::vector<Address>& each) {
    return std::none_of(later.task_circles().begin(), later.task_circles().end(),
                        [&](const auto& other) { return ids_of(other, later) == ids_of(each, locks); });
  });
  const auto again_of_pools = pool_circles_of(later, later_tasks);
  std::erase_if(found.of_pools, [&](const PoolNames& each) {
    return std::none_of(again_of_pools.begin(), again_of_pools.end(), [&](const PoolNames& other) {
      return other.others == each.others && other.pools.size() == each.pools.size();
    });
  });
  return found;
}

// Of Java's locks and tasks, of the locks below, and of several kinds, safepoints included.
std::vector<Names> circles_of_all(const LockFacts& locks, const Circles& of_tasks, const MutexReport& report,
                                  const std::vector<LockEdge>& edges) {
  std::vector<Names> circles;
  for (const auto& each : locks.deadlocks()) circles.push_back(names_of(each, locks));
  for (const auto& each : of_tasks) circles.push_back(names_of(each, locks));
  for (const auto& circle : report.circles) {
    Names& names = circles.emplace_back();
    for (const MutexParty& each : circle) names.push_back({.name = each.name});
  }
  for (const auto& circle : mixed_circles(edges)) {
    Names& names = circles.emplace_back();
    for (const LockParty& each : circle) names.push_back({.name = each.name});
  }
  return circles;
}

bool has_waits(const MutexReport& report) {
  return std::any_of(report.rows.begin(), report.rows.end(),
                     [](const MutexRow& row) { return row.owner && !row.waiters.empty(); });
}

// Of a running JVM. The search follows what is on the stacks of all threads, into files that a core does not have; and
// what a small core records of it is not for others to see: arguments and the environment are in the same memory.
bool has_locks_below(const Inspection& inspection) {
  return inspection.target().process() != nullptr && !inspection.known_locks();
}

}  // namespace

// The locks below Java are read before the threads and after them: those of both were there in between.
Result<ViewResult> view_locks(Inspection& inspection, const ViewOptions& options) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  OwnedLocks owned(inspection, options.max_stop);
  const MutexReport before = has_locks_below(inspection) ? report_mutexes(inspection) : MutexReport();
  JTRACE_ASSIGN_OR_RETURN(ThreadSnapshot snapshot, take_thread_snapshot(inspection, {.max_stop = options.max_stop}));
  LockFacts locks(inspection, snapshot);
  const TaskWaits tasks = task_waits(inspection, locks);
  locks.note(tasks);
  JTRACE_ASSIGN_OR_RETURN(const TaskCircles of_tasks, task_circles(inspection, locks, tasks, options));
  owned.settle(locks);
  const auto mutexes = has_waits(before) ? kept_in_both(before, report_mutexes(inspection)) : std::vector<MutexRow>();
  const auto waits =
      has_locks_below(inspection) ? vm_waits(report_safepoint(inspection, {}), snapshot) : std::vector<VmWait>();
  std::vector<LockEdge> edges = lock_edges(locks, mutexes);
  for (LockEdge& each : vm_edges(waits, locks, mutexes)) edges.push_back(std::move(each));
  const auto circles = circles_of_all(locks, of_tasks.circles, before, edges);
  ViewResult result;
  result.missing = std::move(snapshot.missing);
  result.missing.insert(result.missing.end(), before.missing.begin(), before.missing.end());
  if (snapshot.batches > 1 && !circles.empty())
    result.missing.push_back(
        "the threads were not all stopped at one moment: a deadlock may be none, made of what "
        "they waited for at different ones; --max-stop with more time stops all together");
  JsonWriter json(result.out);
  JsonWriter* const rows = options.json ? &json : nullptr;
  for (const Names& each : circles) append_circle(each, rows, result.out);
  for (const PoolNames& each : of_tasks.of_pools) append_pool_circle(each, locks, rows, result.out);
  append_waits(locks, false, rows, result.out);
  append_mutex_waits(mutexes, rows, result.out);
  append_vm_waits(waits, rows, result.out);
  append_owned_locks(owned, locks, rows, result.out);
  append_waits(locks, true, rows, result.out);
  append_why(owned, options.json, result);
  return result;
}

}  // namespace jtrace::coreinspect
