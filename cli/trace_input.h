// Shared by the commands that read traces: IN as an EventSource, faults as warnings, progress on a terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/io/event_source.h"
#include "trace/io/fault_log.h"
#include "trace/io/losses.h"
#include "trace/io/statistics.h"

namespace jtrace::cli {

struct TraceInputOptions {
  bool strict = false;
  bool repair_utf8 = false;
  bool progress = true;
  bool judges_ends = false;  // the caller finds out itself whether each trace has an end (validate)
};

// Opens IN ("-": standard input), compressed or not, in any format that jtrace reads: XML (documents, fragments), SDDF,
// a spill, or the ring memory of a killed trace (jtrace recover). `faults`: borrowed.
Result<std::unique_ptr<trace::io::EventSource>> open_trace(const std::string& path, trace::io::FaultLog& faults,
                                                           const TraceInputOptions& options);

// Several inputs that are parts of one trace (--rotate), in any order, or traces of one agent one after the other: as
// one source. One input: as open_trace(). kUsage: they are not of one agent, or one is given twice. Missing parts
// between them are reported on stderr and set `missing`. `on_part`: called with each name before it is read.
struct TraceParts {
  std::unique_ptr<trace::io::EventSource> source;
  std::string name;
  bool missing = false;
};
Result<TraceParts> open_parts(const std::vector<std::string>& paths, trace::io::FaultLog& faults,
                              const TraceInputOptions& options,
                              const std::function<void(const std::string&)>& on_part = {});
// The same for any number of agents: the parts of each rotated trace are one item of the result, other inputs stay
// separate.
Result<std::vector<std::vector<std::string>>> group_inputs(const std::vector<std::string>& paths,
                                                           const TraceInputOptions& options);

// Warnings on stderr, once per name.
trace::io::FaultLog warnings(bool strict);
// What of the input was not there, for the views' "complete" and "missing".
void note_missing(trace::io::Statistics& statistics, const trace::io::ReadSummary& summary, bool lacks_parts);
// What an answer from the input lacks, a line each. This is the rule of all commands that read traces: an answer is
// partial if the input is cut off, if a part in the middle is missing, or if events were lost while tracing, at its end
// too. Faults are warnings (errors with --strict), and the oldest parts of a rotated trace may be gone.
struct InputLoss {
  trace::io::Losses losses = {};  // Statistics::losses(), LossSink::losses()
  bool parts = false;             // TraceParts::missing, which open_parts() has reported
};
std::vector<std::string> lacks_of(const std::string& path, const trace::io::ReadSummary& summary,
                                  const InputLoss& loss);
// Prints a summary of the warnings in one line, and what the input lacks. The status of an input that was read to its
// end: kPartial if it lacks something.
ExitStatus report_input(const std::string& path, const trace::io::ReadSummary& summary,
                        const trace::io::FaultLog& faults, const InputLoss& loss);

}  // namespace jtrace::cli
