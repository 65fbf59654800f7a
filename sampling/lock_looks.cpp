#include "sampling/lock_looks.h"

#include "base/clock.h"
#include "coreinspect/tools/lock_facts.h"

namespace jtrace::sampling {
namespace {

using coreinspect::LockFacts;
using target::Address;

constexpr std::uint64_t kPart = 19;  // a look comes after so many times what the one before took

// A virtual thread has the lock, not its carrier.
std::string name_of_owner(const coreinspect::Wait& wait, const LockFacts& facts) {
  if (wait.owner_ended) return wait.owner + " (ended)";
  const LockFacts::Party* owner = facts.party(wait.owner_thread);
  const bool carries = owner && owner->java && owner->java->continuation_entry != 0;
  return carries ? "virtual thread on " + wait.owner : wait.owner;
}

}  // namespace

Address LockLooks::monitor_of(Address thread) const {
  for (const char* field : {"_current_pending_monitor", "_current_waiting_monitor"}) {
    const auto offset = inspection_.vm().types().offset({"JavaThread", "Thread"}, field);
    const auto monitor =
        offset ? inspection_.vm().memory().read<Address>(thread + *offset) : Result<Address>(Address{0});
    if (monitor && *monitor != 0) return *monitor;
  }
  return 0;
}

// A collection may have moved the java.lang.Thread since the thread was looked up.
bool LockLooks::may_have_owner(Address thread) const {
  if (thread == 0) return false;
  if (monitor_of(thread) != 0) return true;
  const coreinspect::ObjectModel& objects = inspection_.objects();
  const Address object = objects.root_field(thread, "JavaThread", "_threadObj").value_or(0);
  const Address blocker = object == 0 ? 0 : objects.reference(object, "parkBlocker").value_or(0);
  return blocker != 0 && objects.reference(blocker, "exclusiveOwnerThread").value_or(0) != 0;
}

bool LockLooks::is_due() const { return monotonic_ns() >= due_; }

std::map<Address, LockOwner> LockLooks::look(const std::vector<Address>& threads) {
  std::map<Address, LockOwner> owners;
  const std::uint64_t from = monotonic_ns();
  const auto addresses = coreinspect::java_thread_addresses(inspection_.vm());
  if (!addresses) return owners;
  coreinspect::ThreadSnapshot snapshot;
  for (const Address address : *addresses) {
    coreinspect::ThreadReport report;
    report.java = coreinspect::read_java_thread(inspection_.objects(), address);
    snapshot.threads.push_back(std::move(report));
  }
  const LockFacts facts(inspection_, snapshot);
  const std::uint64_t until = monotonic_ns();
  due_ = until + kPart * (until - from);
  for (const Address thread : threads) {
    const coreinspect::Wait* wait = facts.wait_of(thread);
    if (wait && wait->kind != "wait")
      owners[thread] = {.name = name_of_owner(*wait, facts), .from = from, .until = until};
  }
  return owners;
}

}  // namespace jtrace::sampling
