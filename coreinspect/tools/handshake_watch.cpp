#include "coreinspect/tools/handshake_watch.h"

#include <sys/syscall.h>

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "base/strings.h"
#include "coreinspect/runtime/safepoint.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::chrono::milliseconds kLasting{400};  // what is there so long is not a passing handshake
constexpr std::chrono::milliseconds kBetween{25};

// What a thread does that may be in os::naked_short_sleep.
struct Sleeper {
  std::optional<Address> sp;  // it sleeps for a time
  bool runs = false;          // it may do so in a moment
};
Sleeper sleeper_of(const target::Process& process, pid_t tid) {
  const auto text = process.read_proc("task/" + std::to_string(tid) + "/syscall");
  if (!text) return {};
  if (text->starts_with("running")) return {.sp = {}, .runs = true};
  const auto number = parse_decimal<long>(std::string_view(*text).substr(0, text->find(' ')));
  // A sleep that a ptrace stop has interrupted continues as restart_syscall.
  if (number != SYS_clock_nanosleep && number != SYS_nanosleep && number != SYS_restart_syscall) return {};
  const auto registers = target::parse_syscall(*text);
  return {.sp = registers ? std::optional(registers->sp()) : std::nullopt};
}

// JavaThreadState of a requester: it is blocked, or in the VM between two sleeps.
bool may_wait_for_handshake(int vm_state) {
  constexpr int kInVm = 6, kBlocked = 10;
  return (vm_state & ~1) == kInVm || (vm_state & ~1) == kBlocked;
}

}  // namespace

HandshakeWatch::HandshakeWatch(const Inspection& inspection, const VmSymbols& symbols, const KernelThreads& kernel,
                               const Result<VmOperations>& operations)
    : inspection_(inspection),
      kernel_(kernel),
      operations_(operations),
      process_(inspection.target().process()),
      handshakes_(Handshakes::find(inspection.vm(), symbols)) {}

std::vector<WatchedHandshake> HandshakeWatch::run() const {
  if (!handshakes_ || !process_) return {};
  std::vector<WatchedHandshake> found = first_look();
  const auto end = std::chrono::steady_clock::now() + kLasting;
  while (!found.empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kBetween);
    std::erase_if(found, [&](WatchedHandshake& each) { return !is_still_there(each); });
  }
  return found;
}

std::vector<WatchedHandshake> HandshakeWatch::first_look() const {
  constexpr int kTries = 4;  // for requesters that are just between two sleeps
  std::vector<WatchedHandshake> found;
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(kBetween / 5);
    if (CachedMemory* live = inspection_.vm().cached_memory()) live->forget();
    add_of_operation(found);
    if (!add_of_sleepers(found) || !found.empty()) break;
  }
  for (WatchedHandshake& each : found) {
    each.first_ns = each.ns = monotonic_ns();
    each.late = late_threads(each.handshake);
    for (const auto& [thread, state] : each.late)
      if (const pid_t tid = kernel_.tid_of(thread); tid != 0) each.before[thread] = read_kernel_facts(*process_, tid);
  }
  return found;
}

// A requester in Java waits for its target by looking every millisecond. Returns whether there may be more of them.
bool HandshakeWatch::add_of_sleepers(std::vector<WatchedHandshake>& found) const {
  const Vm& vm = inspection_.vm();
  std::map<pid_t, pid_t> tids;
  for (const KernelThread& each : kernel_.all()) tids[each.nstid] = each.tid;
  const auto threads = java_thread_addresses(vm);
  bool more = false;
  for (const Address thread : threads ? *threads : std::vector<Address>()) {
    const auto state = vm.read_field<std::int32_t>(thread, "JavaThread", "_thread_state");
    const auto tid = tids.find(native_id_of(vm, thread));
    if (!state || !may_wait_for_handshake(*state) || tid == tids.end()) continue;
    const Sleeper sleeper = sleeper_of(*process_, tid->second);
    more = more || sleeper.runs;
    const auto base = java_stack_base(vm, thread);
    if (!sleeper.sp || !base) continue;
    if (const auto handshake = handshakes_->on_stack(thread, *sleeper.sp, *base))
      found.push_back({.handshake = *handshake});
  }
  return more;
}

// Only a VM_HandshakeAllThreads has a HandshakeOperation at that place.
void HandshakeWatch::add_of_operation(std::vector<WatchedHandshake>& found) const {
  if (!operations_) return;
  const auto operation = operations_->now();
  if (!operation || !*operation || (*operation)->waits) return;
  const auto handshake = handshakes_->of_operation((*operation)->address);
  if (handshake) found.push_back({.handshake = *handshake});
}

std::map<Address, int> HandshakeWatch::late_threads(const Handshake& handshake) const {
  std::map<Address, int> late;
  const auto add = [&](Address thread) {
    const auto state = inspection_.vm().read_field<std::int32_t>(thread, "JavaThread", "_thread_state");
    if (state && holds_up_safepoint(*state)) late[thread] = *state;
  };
  if (handshake.target != 0) {
    add(handshake.target);
    return late;
  }
  const auto threads = java_thread_addresses(inspection_.vm());
  for (const Address each : threads ? *threads : std::vector<Address>())
    if (handshakes_->is_queued(handshake, each)) add(each);
  return late;
}

bool HandshakeWatch::is_still_there(WatchedHandshake& watched) const {
  const auto now = handshakes_->at(watched.handshake.operation);
  if (!now || !now->same(watched.handshake)) return false;
  if (CachedMemory* live = inspection_.vm().cached_memory()) live->forget();
  const auto late = late_threads(*now);
  std::erase_if(watched.late, [&](const auto& each) { return !late.contains(each.first); });
  watched.handshake.pending = now->pending;
  watched.ns = monotonic_ns();
  return !watched.late.empty();
}

}  // namespace jtrace::coreinspect
