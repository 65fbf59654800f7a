// What the commands that read traces share: IN as an EventSource, faults as warnings, progress on a terminal.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "trace/io/event_source.h"
#include "trace/io/fault_log.h"

namespace jtrace::cli {

struct TraceInputOptions {
  bool strict = false;
  bool repair_utf8 = false;
  bool progress = true;
};

// Opens IN ("-": standard input), packed or not, in whichever of the formats we read: XML (documents, fragments),
// SDDF, a spill, or the ring memory that a killed trace has left (jtrace recover). `faults`: borrowed.
Result<std::unique_ptr<trace::io::EventSource>> open_trace(const std::string& path, trace::io::FaultLog& faults,
                                                           const TraceInputOptions& options);

// Warnings on stderr, once per name.
trace::io::FaultLog warnings(bool strict);
// What was warned of, in one line; and the status of an input that was read to its end.
ExitStatus say_input(const std::string& path, const trace::io::ReadSummary& summary, const trace::io::FaultLog& faults);

}  // namespace jtrace::cli
