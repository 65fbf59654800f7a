#include "coreinspect/tools/lock_facts.h"

#include <algorithm>

namespace jtrace::coreinspect {

std::string describe(const Wait& wait) {
  std::string text = wait.kind == "monitor" ? "waiting to lock"
                     : wait.kind == "wait"  ? "waiting on"
                                            : "parking to wait for";
  text += " <" + hex(wait.object) + "> (a " + (wait.class_name.empty() ? "?" : printable(wait.class_name)) + ")";
  if (!wait.owner.empty()) text += " owned by \"" + printable(wait.owner) + "\" #" + std::to_string(wait.owner_id);
  return text;
}

LockFacts::LockFacts(const Inspection& inspection, const ThreadSnapshot& snapshot)
    : inspection_(inspection), snapshot_(snapshot) {
  for (const ThreadReport& report : snapshot.threads) add(report);
  find_deadlocks();
}

const Wait* LockFacts::wait_of(Address java_thread) const {
  const auto found = waits_.find(java_thread);
  return found == waits_.end() ? nullptr : &found->second;
}

void LockFacts::add(const ThreadReport& report) {
  const ObjectModel& objects = inspection_.objects();
  const JavaThread& java = report.java;
  if (java.address == 0) return;
  Wait wait;
  if (const Address monitor = java.pending_monitor ? java.pending_monitor : java.waiting_monitor; monitor != 0) {
    wait.kind = java.pending_monitor ? "monitor" : "wait";
    wait.object = objects.root_field(monitor, "ObjectMonitor", "_object").value_or(0);
    if (java.pending_monitor) wait.owner_thread = owner_of_monitor(monitor, wait.object);
  } else if (const auto blocker = objects.reference(java.object, "parkBlocker"); blocker && *blocker != 0) {
    wait.kind = "park";
    wait.object = *blocker;
    const auto owner = objects.reference(*blocker, "exclusiveOwnerThread");
    for (const ThreadReport& other : snapshot_.threads)
      if (owner && *owner != 0 && other.java.object == *owner) wait.owner_thread = other.java.address;
  } else {
    return;
  }
  if (const auto klass = objects.klass_of(wait.object)) wait.class_name = objects.classes().name(*klass).value_or("");
  for (const ThreadReport& other : snapshot_.threads) {
    if (wait.owner_thread == 0 || other.java.address != wait.owner_thread) continue;
    wait.owner = other.java.name;
    wait.owner_id = other.java.id;
  }
  waits_[java.address] = wait;
}

// ObjectMonitor::_owner: up to 21 a JavaThread* or an address on the owner's stack; from 25 on the owner's id; 1 for an
// owner that holds the object by a fast lock (objectMonitor.hpp).
Address LockFacts::owner_of_monitor(Address monitor, Address object) const {
  const auto owner = inspection_.vm().read_pointer(monitor, "ObjectMonitor", "_owner");
  if (!owner || *owner == 0) return 0;
  const bool by_id = inspection_.vm().types().has("JavaThread", "_monitor_owner_id");
  if (*owner == 1) return holder_of_fast_lock(object);
  for (const ThreadReport& report : snapshot_.threads) {
    const JavaThread& java = report.java;
    if (java.address == 0) continue;
    if (by_id ? java.monitor_owner_id == *owner : java.address == *owner || java.has_stack_address(*owner))
      return java.address;
  }
  return 0;
}

// LockStack (lockStack.hpp, 21 and later): _top is an offset from the JavaThread, _base the objects.
Address LockFacts::holder_of_fast_lock(Address object) const {
  const Vm& vm = inspection_.vm();
  const auto stack = vm.types().offset("JavaThread", "_lock_stack");
  const auto base = vm.types().offset("LockStack", "_base[0]");
  if (!stack || !base || object == 0) return 0;
  for (const ThreadReport& report : snapshot_.threads) {
    if (report.java.address == 0) continue;
    const Address at = report.java.address + *stack;
    const auto top = vm.read_field<std::uint32_t>(at, "LockStack", "_top");
    if (!top || *top < *stack + *base || *top > *stack + *base + 8 * 64) continue;
    for (Address slot = at + *base; slot < report.java.address + *top; slot += 8) {
      const auto held = vm.memory().read<Address>(slot);
      if (held && inspection_.objects().from_stack(*held) == object) return report.java.address;
    }
  }
  return 0;
}

void LockFacts::find_deadlocks() {
  std::map<Address, int> seen_in;  // the walk that came by first
  int walk = 0;
  for (const auto& [start, first] : waits_) {
    ++walk;
    std::vector<Address> path;
    Address at = start;
    while (at != 0 && !seen_in.contains(at)) {
      seen_in[at] = walk;
      path.push_back(at);
      const Wait* wait = wait_of(at);
      at = wait && wait->kind != "wait" ? wait->owner_thread : 0;
    }
    if (at == 0 || seen_in[at] != walk) continue;
    deadlocks_.emplace_back(std::find(path.begin(), path.end(), at), path.end());
  }
}

Result<ViewResult> view_locks(Inspection& inspection, const ViewOptions& options) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  JTRACE_ASSIGN_OR_RETURN(ThreadSnapshot snapshot, take_thread_snapshot(inspection, {.max_stop = options.max_stop}));
  const LockFacts locks(inspection, snapshot);
  const auto name_of = [&](Address thread) {
    for (const ThreadReport& report : snapshot.threads)
      if (report.java.address == thread) return report.java.name;
    return std::string();
  };
  ViewResult result;
  result.missing = std::move(snapshot.missing);
  JsonWriter json(result.out);
  for (const ThreadReport& report : snapshot.threads) {
    const Wait* wait = locks.wait_of(report.java.address);
    if (report.java.address == 0 || !wait) continue;
    if (!options.json) {
      result.out +=
          "\"" + printable(report.java.name) + "\" #" + std::to_string(report.java.id) + " " + describe(*wait) + "\n";
      continue;
    }
    json.begin_object()
        .member("thread", report.java.name)
        .member("threadId", report.java.id)
        .member("kind", wait->kind);
    json.member("object", hex(wait->object)).member("class", wait->class_name);
    if (!wait->owner.empty()) json.member("owner", wait->owner).member("ownerId", wait->owner_id);
    json.end_object();
  }
  for (const auto& cycle : locks.deadlocks()) {
    if (options.json) {
      json.begin_object().member("kind", "deadlock").key("threads").begin_array();
      for (Address thread : cycle) json.value(name_of(thread));
      json.end_array().end_object();
    } else {
      result.out += "deadlock:";
      for (Address thread : cycle) result.out += " \"" + printable(name_of(thread)) + "\" ->";
      result.out += " \"" + printable(name_of(cycle.front())) + "\"\n";
    }
  }
  return result;
}

}  // namespace jtrace::coreinspect
