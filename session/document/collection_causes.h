// What a collection was for, from the JVM's counters at its end (trace::record::GcCauseRecord), as the attributes of
// gcFinish. Pure but for CycleCauses.
#pragma once

#include <string>

#include "trace/record/event_record.h"
#include "trace/values.h"

namespace jtrace::session {

// Generational ZGC collects the young generation (minor) while the old one is collected (major). There is one counter
// for both causes: within another collection, it is that of whichever began last, and the pause may belong to either
// (zServiceability.cpp counts all as minor meanwhile). One trace.
class CycleCauses {
 public:
  // Replaces in `of` what does not hold, by the cause that the major collection had before, or by nothing.
  void settle(trace::record::GcCauseRecord& of);

 private:
  std::string major_;  // the cause of the last major collection, "" if not known
};

// A view of `of`. Absent: not known. "No GC": the JVM names none, for a phase of a concurrent cycle.
trace::Text cause_text(const trace::record::GcCauseRecord& of);
// "young", "full", "young full": both within one pause; "concurrent": a phase of a concurrent cycle; "minor", "major";
// "none": no collector counted it (G1 stops for a full Metaspace without collecting, to begin a concurrent cycle). "":
// not known.
std::string kind_text(const trace::record::GcCauseRecord& of);
trace::Number used_before(const trace::record::GcCauseRecord& of);

}  // namespace jtrace::session
