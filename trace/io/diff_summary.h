// What of a difference between two traces stands out: a method that is called more or less often, and one that takes
// longer or less long itself, if that is much of the time. Pure.
#pragma once

#include "trace/io/trace_diff.h"

namespace jtrace::trace::io {

struct DiffSummary {
  const DiffRow* calls = nullptr;  // of the table kTotalTime: how often it is called differs; null: none
  const DiffRow* self = nullptr;   // of the table kSelfTime: its mean differs
};
// Borrows from `difference`. Nothing stands out where events were lost or nothing was recorded of calls.
DiffSummary summary_of(const Difference& difference);

}  // namespace jtrace::trace::io
