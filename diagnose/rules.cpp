#include "diagnose/rules.h"

namespace jtrace::diagnose {
namespace {

std::string_view not_in_core(const Facts& facts) { return facts.live ? "" : "a core does not run"; }
std::string_view without_process(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  return facts.process.size() < 2 ? "the kernel's files on the process were not read twice" : "";
}
std::string_view without_threads(const Facts& facts) { return facts.looks.empty() ? "the threads were not read" : ""; }
std::string_view without_three_samples(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  return facts.looks.size() < 3 ? "the threads were not read three times" : "";
}
bool has_state(const SafepointFact& safepoint) { return safepoint.state != SafepointFact::State::kUnknown; }
std::string_view without_safepoints(const Facts& facts) {
  std::size_t known = 0;
  for (const SafepointFact& each : facts.safepoints) known += has_state(each) ? 1 : 0;
  return known < (facts.live ? 2u : 1u) ? "the state of safepoints was not read" : "";
}
std::string_view without_direct(const Facts& facts) {
  return facts.direct_read ? "" : "the direct buffers were not read";
}
std::string_view without_counters(const Facts& facts) {
  if (!facts.live) return not_in_core(facts);
  return facts.counters.size() < 2 ? "the performance counters were not read twice" : "";
}
std::string_view without_operations(const Facts& facts) {
  return facts.live ? without_safepoints(facts) : not_in_core(facts);
}

}  // namespace

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
      {"deadlock", "deadlocks", without_threads, find_deadlocks},
      {"stopped", "a stopped process", without_process, find_stopped},
      {"safepoint", "safepoints that are not reached", without_safepoints, find_late_safepoint},
      {"vm-operation", "long VM operations", without_operations, find_long_operation},
      {"heap-full", "a full heap with one collection after the other", without_counters, find_full_heap},
      {"direct-memory", "direct buffers near their limit", without_direct, find_full_direct_memory},
      {"descriptors", "descriptors near their limit", without_process, find_many_files},
      {"finalizer", "a finalizer that does not end", without_three_samples, find_stuck_finalizer},
      {"contention", "locks that many wait for", without_threads, find_contention},
      {"spinning", "threads that spin", without_three_samples, find_spinning},
  };
  return all;
}

}  // namespace jtrace::diagnose
