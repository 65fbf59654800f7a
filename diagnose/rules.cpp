#include "diagnose/rules.h"

namespace jtrace::diagnose {
namespace {

std::string_view not_in_core(const Facts& facts) { return facts.live ? "" : kNotInCore; }
std::string_view without_process(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  return facts.process.size() < 2 ? "the kernel's files on the process were not read twice" : "";
}
std::string_view without_threads(const Facts& facts) { return facts.looks.empty() ? "the threads were not read" : ""; }
std::string_view without_three_samples(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  return facts.looks.size() < 3 ? "the threads were not read three times" : "";
}
std::string_view without_long_looks(const Facts& facts) {
  if (const auto missing = without_three_samples(facts); !missing.empty()) return missing;
  // Where the JVM could be read only slowly, the looks come closer together, so that all end in time.
  return looks_span(facts, kHeldLong) ? ""
                                      : "there were less than 1.5 s between the first look and the last: a longer "
                                        "--interval helps, and on a busy machine a longer --budget";
}
bool has_state(const SafepointFact& safepoint) { return safepoint.state != SafepointFact::State::kUnknown; }
std::string_view without_safepoints(const Facts& facts) {
  std::size_t known = 0;
  for (const SafepointFact& each : facts.safepoints) known += has_state(each) ? 1 : 0;
  return known < (facts.live ? 2u : 1u) ? "the state of safepoints was not read" : "";
}
std::string_view without_locker(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  std::size_t known = 0;
  for (const SafepointFact& each : facts.safepoints) known += each.locker_wanted ? 1 : 0;
  return known < 2 ? "libjvm.so has no symbols for the GC locker" : "";
}
std::string_view without_handshakes(const Facts& facts) {
  constexpr int kFirst = 12;  // JDK: the first in which threads wait for a handshake of a single one
  if (!facts.live) return not_in_core(facts);
  if (facts.safepoints.size() < 2) return "handshakes were not read twice";
  if (facts.feature < kFirst) return "";
  return facts.safepoints.back().handshakes ? "" : "libjvm.so has no symbols for handshakes, or is older than JDK 16";
}
std::string_view without_direct(const Facts& facts) {
  return facts.direct_read ? "" : "the direct buffers were not read";
}
std::string_view without_counters(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  return facts.counters.size() < 2 ? "the performance counters were not read twice" : "";
}
std::string_view without_grown_jvm(const Facts& facts) {
  if (const auto missing = without_counters(facts); !missing.empty()) return missing;
  if (!facts.counters.back().uptime) return "the JVM's age was not read";
  return *facts.counters.back().uptime < kGrownUp ? "the JVM has started less than 20 s ago, and may collect often"
                                                  : "";
}
std::string_view without_limits(const Facts& facts) { return facts.limits ? "" : "the JVM's limits were not read"; }
std::string_view without_malloc(const Facts& facts) { return facts.malloc ? "" : "the memory of malloc was not read"; }
std::string_view without_stalls(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  return facts.stalls ? "" : "stacks of threads that allocate were not read";
}
std::string_view without_metaspace(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  if (facts.counters.empty()) return "the performance counters were not read";
  return without_limits(facts);
}
std::string_view without_groups(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  if (facts.groups.size() < 2) return "the control groups were not read twice";
  return facts.groups.back().visible ? "" : "the control groups of the process cannot be seen from here";
}
std::string_view without_sockets(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  return facts.sockets.size() < 2 ? "the sockets were not read twice" : "";
}
std::string_view without_disks(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  return facts.disks ? "" : "the file systems were not read";
}
std::string_view without_mutexes(const Facts& facts) {
  return facts.mutexes.size() < (facts.live ? 2u : 1u) ? "the mutexes were not read" : "";
}
std::string_view without_two_mutexes(const Facts& facts) {
  return facts.live ? without_mutexes(facts) : not_in_core(facts);
}
std::string_view without_operations(const Facts& facts) {
  return facts.live ? without_safepoints(facts) : not_in_core(facts);
}

}  // namespace

bool looks_span(const Facts& facts, std::uint64_t ns) {
  return !facts.looks.empty() && facts.looks.back().ns - facts.looks.front().ns >= ns;
}

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::kCertain: return "certain";
    case Confidence::kLikely: return "likely";
    case Confidence::kHint: break;
  }
  return "hint";
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"crash", "a crash", without_threads, find_crash, false, true},
      {"deadlock", "deadlocks", without_threads, find_deadlocks},
      {"pool-deadlock", "deadlocks through the queue of a pool", without_threads, find_pool_deadlocks},
      {"pool", "pools that wait for their own tasks", without_threads, find_starved_pools},
      {"native-deadlock", "deadlocks of the VM's locks and of native code", without_mutexes, find_native_deadlocks},
      {"mixed-deadlock", "deadlocks of Java's locks and those below together", without_mutexes, find_mixed_deadlocks},
      {"stopped", "a stopped process", without_process, find_stopped},
      {"safepoint", "safepoints that are not reached", without_safepoints, find_late_safepoint},
      {"handshake", "handshakes that are not run", without_handshakes, find_late_handshake, true},
      {"vm-operation", "long VM operations", without_operations, find_long_operation},
      {"gc-locker", "collections that wait for native code", without_locker, find_kept_gc_locker, true},
      {"heap-full", "a full heap with one collection after the other", without_counters, find_full_heap},
      {"allocation-stall", "threads that wait for memory", without_stalls, find_allocation_stalls},
      {"group-memory", "a control group near its limit of memory", without_groups, find_full_group},
      {"disk-full", "full file systems", without_disks, find_full_disks},
      {"direct-memory", "direct buffers near their limit", without_direct, find_full_direct_memory},
      {"descriptors", "descriptors near their limit", without_process, find_many_files},
      {"threads", "threads near the limit of the control group", without_groups, find_many_tasks},
      {"thread-growth", "threads that become more and more", without_three_samples, find_growing_threads},
      {"swap", "a JVM in the swap", without_process, find_swapped},
      {"metaspace", "metaspace near its limit", without_metaspace, find_full_metaspace},
      {"code-cache", "a full code cache", without_limits, find_full_code},
      {"kernel-wait", "threads that wait in the kernel", without_process, find_kernel_waits},
      {"pinned", "carriers that are kept by virtual threads", without_three_samples, find_pinned_carriers},
      {"finalizer", "a finalizer that does not end", without_long_looks, find_stuck_finalizer, true},
      {"vm-lock", "locks below Java that are not given back", without_two_mutexes, find_kept_mutexes},
      {"lost-lock", "locks whose owners have ended", without_threads, find_lost_locks},
      {"contention", "locks that many wait for", without_threads, find_contention},
      {"lock-wait", "read-write and stamped locks that are not given back", without_long_looks,
       find_waits_without_owner, true},
      {"pool-stuck", "pools whose threads all wait in a task while others queue", without_long_looks, find_stuck_pools,
       true},
      {"spinning", "threads that spin", without_three_samples, find_spinning},
      {"throttled", "a control group that takes the processors away", without_groups, find_throttled},
      {"gc-time", "much time in collections", without_grown_jvm, find_much_collecting, true},
      {"gc-cpu", "a collector that uses most of the processor time", without_three_samples, find_busy_collector},
      {"vm-thread", "threads of the VM that have no rest", without_three_samples, find_busy_vm_threads},
      {"compiler", "compilations that do not end", without_three_samples, find_long_compilations},
      {"processors", "threads that wait for a processor", without_three_samples, find_waits_for_processor},
      {"malloc-free", "memory that malloc keeps", without_malloc, find_free_malloc},
      {"unclosed-sockets", "sockets that are not closed", without_sockets, find_unclosed_sockets},
      {"group-size", "a heap larger than the control group", without_groups, find_small_group},
      {"network", "threads that wait for the network", without_three_samples, find_socket_readers},
      {"attach-off", "attaching that is disabled", without_limits, find_attach_off},
  };
  return all;
}

}  // namespace jtrace::diagnose
