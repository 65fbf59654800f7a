#include "coreinspect/tools/mutex_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "coreinspect/model/thread_reader.h"
#include "coreinspect/runtime/vm_mutexes.h"
#include "coreinspect/tools/circles.h"
#include "coreinspect/tools/futex_waits.h"
#include "coreinspect/tools/kernel_threads.h"

namespace jtrace::coreinspect {
namespace {

// What one look finds.
struct Look {
  std::vector<VmMutex> mutexes;
  std::vector<FutexWait> waits;
  std::map<pid_t, NativeMutex> natives;  // of the waits that are for one
};

// The ids of the threads of the process, and their names.
class Names {
 public:
  explicit Names(const Inspection& inspection) : inspection_(inspection) {
    add_kernel_threads();
    const auto threads = java_thread_addresses(inspection.vm());
    if (!threads || !inspection.healthy()) return;
    ThreadReader reader(inspection);
    for (const Address each : *threads) {
      const JavaThread thread = reader.read(each);
      if (thread.native_id != 0 && !thread.name.empty()) names_[thread.native_id] = thread.name;
    }
  }
  std::vector<pid_t> tids() const {
    std::vector<pid_t> tids;
    for (const auto& [tid, name] : names_) tids.push_back(tid);
    return tids;
  }
  MutexParty party(pid_t nid) const {
    const auto found = names_.find(nid);
    return {nid, found == names_.end() ? "" : found->second};
  }
  // Of a Thread of the VM.
  MutexParty party_of(Address thread) const { return party(native_id_of(inspection_.vm(), thread)); }

 private:
  void add_kernel_threads() {
    const target::Target& target = inspection_.target();
    if (const target::CoreFile* core = target.core())
      for (const target::ThreadRegisters& each : core->threads()) names_[each.tid] = "";
    const KernelThreads threads(inspection_.vm());
    for (const KernelThread& each : threads.all()) names_[each.nstid] = each.name;
  }

  const Inspection& inspection_;
  std::map<pid_t, std::string> names_;
};

class Reporter {
 public:
  explicit Reporter(const Inspection& inspection)
      : inspection_(inspection), mutexes_(VmMutexes::find(inspection.vm())), names_(inspection), tids_(names_.tids()) {}

  MutexReport run() {
    const Look first = look();
    const bool live = inspection_.target().process() != nullptr;
    const Look second = live ? look() : first;
    keep_same(first, second);
    report_.found_by = mutexes_.found_by();
    if (report_.found_by.empty()) report_.missing.push_back("the VM's own locks: they were not found in this JVM");
    for (const VmMutex& each : same_.mutexes) add_vm_mutex(each);
    add_native_mutexes();
    find_circles();
    return std::move(report_);
  }

 private:
  Look look() const {
    const target::Target& target = inspection_.target();
    Look look{.mutexes = mutexes_.read(), .waits = read_futex_waits(target)};
    for (const FutexWait& each : look.waits)
      if (const auto native = native_mutex_of(target.memory(), each.call, tids_)) look.natives[each.tid] = *native;
    return look;
  }

  void keep_same(const Look& first, const Look& second) {
    for (const FutexWait& each : second.waits)
      if (std::any_of(first.waits.begin(), first.waits.end(),
                      [&](const FutexWait& then) { return then.tid == each.tid && then.call == each.call; }))
        same_.waits.push_back(each);
    for (const auto& [tid, native] : second.natives)
      if (const auto then = first.natives.find(tid); then != first.natives.end() && then->second == native)
        same_.natives[tid] = native;
    for (std::size_t i = 0; i < second.mutexes.size(); ++i) {
      same_.mutexes.push_back(second.mutexes[i]);
      if (first.mutexes[i].owner != second.mutexes[i].owner) same_.mutexes.back().owner = 0;
    }
  }

  void add_vm_mutex(const VmMutex& mutex) {
    MutexRow row{.kind = "vm", .name = mutex.name, .address = mutex.address};
    if (mutex.owner != 0) row.owner = names_.party_of(mutex.owner);
    for (const FutexWait& each : same_.waits) {
      const auto sleep = mutexes_.sleep_at(mutex, each.call.word);
      if (sleep == VmMutexes::Sleep::kElsewhere) continue;
      explained_.insert(each.tid);
      if (sleep == VmMutexes::Sleep::kForNotification) ++row.sleepers;
      else row.waiters.push_back(waiter(each));
      // Who has the mutex of the operating system, if the VM has not noted itself as owner.
      const auto native = same_.natives.find(each.tid);
      if (sleep == VmMutexes::Sleep::kForLock && !row.owner && native != same_.natives.end())
        row.owner = names_.party(native->second.owner);
    }
    report_.rows.push_back(std::move(row));
  }

  MutexParty waiter(const FutexWait& wait) const {
    MutexParty party = names_.party(wait.tid);
    party.switches = wait.switches;
    return party;
  }

  void add_native_mutexes() {
    std::map<Address, MutexRow> rows;
    for (const FutexWait& each : same_.waits) {
      const auto native = same_.natives.find(each.tid);
      if (native == same_.natives.end() || explained_.contains(each.tid)) continue;
      MutexRow& row = rows[native->second.address];
      row.kind = "native";
      row.address = native->second.address;
      row.owner = names_.party(native->second.owner);
      row.waiters.push_back(waiter(each));
    }
    for (auto& [address, row] : rows) report_.rows.push_back(std::move(row));
  }

  void find_circles() {
    std::vector<std::pair<pid_t, pid_t>> owners;
    for (const MutexRow& row : report_.rows)
      for (const MutexParty& waiter : row.waiters)
        if (row.owner && row.owner->nid != 0) owners.emplace_back(waiter.nid, row.owner->nid);
    for (const auto& circle : circles_of(owners)) {
      auto& parties = report_.circles.emplace_back();
      for (const pid_t nid : circle) parties.push_back(names_.party(nid));
    }
  }

  const Inspection& inspection_;
  VmMutexes mutexes_;
  Names names_;
  std::vector<pid_t> tids_;
  Look same_;                  // what both looks have
  std::set<pid_t> explained_;  // threads that sleep in a lock of the VM
  MutexReport report_;
};

}  // namespace

std::vector<std::vector<pid_t>> circles_of(const std::vector<std::pair<pid_t, pid_t>>& owners) {
  return circles_in(std::map<pid_t, pid_t>(owners.begin(), owners.end()));
}

MutexReport report_mutexes(const Inspection& inspection) { return Reporter(inspection).run(); }

}  // namespace jtrace::coreinspect
