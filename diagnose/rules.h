// The rules: pure functions from facts to findings.
//
// Facts come from several looks; a rule speaks of what was there at all of them. A core is one look and stands still.
// Threads: any.
#pragma once

#include <string_view>
#include <vector>

#include "diagnose/facts.h"
#include "diagnose/finding.h"

namespace jtrace::diagnose {

struct Rule {
  std::string_view name;   // as in docs/diagnose.md
  std::string_view about;  // what it looks at, in the plural: "deadlocks"
  // Why it cannot be asked with these facts; "" if it can.
  std::string_view (*unasked)(const Facts&);
  void (*ask)(const Facts&, std::vector<Finding>&);
};
// In the order in which findings matter.
const std::vector<Rule>& rules();

// One function for each subject; each adds what it finds.
void find_stopped(const Facts& facts, std::vector<Finding>& found);
void find_deadlocks(const Facts& facts, std::vector<Finding>& found);
void find_late_safepoint(const Facts& facts, std::vector<Finding>& found);
void find_long_operation(const Facts& facts, std::vector<Finding>& found);
void find_contention(const Facts& facts, std::vector<Finding>& found);
void find_spinning(const Facts& facts, std::vector<Finding>& found);
void find_stuck_finalizer(const Facts& facts, std::vector<Finding>& found);
void find_full_direct_memory(const Facts& facts, std::vector<Finding>& found);
void find_full_heap(const Facts& facts, std::vector<Finding>& found);
void find_many_files(const Facts& facts, std::vector<Finding>& found);

// Whether the process is stopped or frozen at every look: then nothing that stands still in it is a fault of its own.
bool stands_still(const Facts& facts);

}  // namespace jtrace::diagnose
