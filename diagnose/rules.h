// The rules: pure functions from facts to findings.
//
// Facts come from several samples; a rule reports what was true in all of them. A core is a single sample. Threads:
// any.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diagnose/facts.h"
#include "diagnose/finding.h"

namespace jtrace::diagnose {

struct Rule {
  std::string_view name;   // as in docs/diagnose.md
  std::string_view about;  // what it examines, in the plural: "deadlocks"
  // Why the rule cannot be applied to these facts; "" if it can.
  std::string_view (*unasked)(const Facts&);
  void (*ask)(const Facts&, std::vector<Finding>&);
  // There are JVMs that do not tell it, or it needs longer intervals: the verdict is whole without it.
  bool not_all_tell = false;
  bool of_core_only = false;  // a JVM that runs cannot have it: nothing was looked for
};
// Why a rule is not applied to a core that needs a JVM that runs.
inline constexpr std::string_view kNotInCore = "a core does not run";
// The same, for a process that has ended meanwhile.
inline constexpr std::string_view kEnded = "the process ended before";
// What is held this long is not about to be given back: a reader of a lock, a finalizer are done in milliseconds.
inline constexpr std::uint64_t kHeldLong = 1'500'000'000;  // ns, from the first look to the last
// A JVM that starts may collect often.
inline constexpr double kGrownUp = 20.0;  // seconds
// In the order of their importance.
const std::vector<Rule>& rules();

// One function for each subject; each adds its findings.
void find_crash(const Facts& facts, std::vector<Finding>& found);
void find_stopped(const Facts& facts, std::vector<Finding>& found);
void find_deadlocks(const Facts& facts, std::vector<Finding>& found);
void find_pool_deadlocks(const Facts& facts, std::vector<Finding>& found);
void find_starved_pools(const Facts& facts, std::vector<Finding>& found);
void find_stuck_pools(const Facts& facts, std::vector<Finding>& found);
void find_native_deadlocks(const Facts& facts, std::vector<Finding>& found);
void find_mixed_deadlocks(const Facts& facts, std::vector<Finding>& found);
// After find_stopped, find_mixed_deadlocks and those of safepoints: what they have found keeps locks of the VM, too,
// and nothing is added.
void find_kept_mutexes(const Facts& facts, std::vector<Finding>& found);
void find_late_safepoint(const Facts& facts, std::vector<Finding>& found);
void find_late_handshake(const Facts& facts, std::vector<Finding>& found);
void find_long_operation(const Facts& facts, std::vector<Finding>& found);
void find_kept_gc_locker(const Facts& facts, std::vector<Finding>& found);
void find_lost_locks(const Facts& facts, std::vector<Finding>& found);
void find_waits_without_owner(const Facts& facts, std::vector<Finding>& found);
void find_contention(const Facts& facts, std::vector<Finding>& found);
void find_spinning(const Facts& facts, std::vector<Finding>& found);
void find_stuck_finalizer(const Facts& facts, std::vector<Finding>& found);
void find_full_direct_memory(const Facts& facts, std::vector<Finding>& found);
void find_free_malloc(const Facts& facts, std::vector<Finding>& found);
void find_allocation_stalls(const Facts& facts, std::vector<Finding>& found);
void find_swapped(const Facts& facts, std::vector<Finding>& found);
void find_growing_threads(const Facts& facts, std::vector<Finding>& found);
void find_full_heap(const Facts& facts, std::vector<Finding>& found);
void find_many_files(const Facts& facts, std::vector<Finding>& found);
void find_throttled(const Facts& facts, std::vector<Finding>& found);
void find_full_group(const Facts& facts, std::vector<Finding>& found);
void find_small_group(const Facts& facts, std::vector<Finding>& found);
void find_many_tasks(const Facts& facts, std::vector<Finding>& found);
void find_full_metaspace(const Facts& facts, std::vector<Finding>& found);
void find_full_code(const Facts& facts, std::vector<Finding>& found);
void find_attach_off(const Facts& facts, std::vector<Finding>& found);
void find_kernel_waits(const Facts& facts, std::vector<Finding>& found);
void find_socket_readers(const Facts& facts, std::vector<Finding>& found);
void find_unclosed_sockets(const Facts& facts, std::vector<Finding>& found);
void find_full_disks(const Facts& facts, std::vector<Finding>& found);
void find_waits_for_processor(const Facts& facts, std::vector<Finding>& found);
void find_pinned_carriers(const Facts& facts, std::vector<Finding>& found);
// After find_full_heap: says nothing if that has found something.
void find_much_collecting(const Facts& facts, std::vector<Finding>& found);
// After these two, and after those of safepoints: they say nothing of what these explain.
void find_busy_collector(const Facts& facts, std::vector<Finding>& found);
void find_busy_vm_threads(const Facts& facts, std::vector<Finding>& found);
void find_long_compilations(const Facts& facts, std::vector<Finding>& found);

// A finding about collections, if the program asks for them by System.gc(): says so.
void note_explicit_collections(const Facts& facts, Finding& finding);
// Whether the process is stopped or frozen in every sample: then its threads are stopped for that reason, and not by a
// fault.
bool stands_still(const Facts& facts);
// Whether the thread is in a circle through the queue of a pool.
bool is_in_pool_circle(const ThreadsLook& look, ThreadKey key);
// Whether so many ns lie between the first and the last look at the threads; false if there is no look.
bool looks_span(const Facts& facts, std::uint64_t ns);

}  // namespace jtrace::diagnose
