// The output of a poll's samples: XML (a series of traces), CSV or JSON lines. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "perfdata/counter_source.h"
#include "perfdata/gc_tracker.h"
#include "perfdata/sample_rows.h"
#include "perfdata/tick_clock.h"
#include "perfdata/trace_series.h"
#include "trace/byte_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::perfdata {

// `jvm` is an index of the caller, from 0 up. For each, begin() is called first and ended() last.
class PollOutput {
 public:
  virtual ~PollOutput() = default;
  virtual Result<> begin(std::size_t jvm, const CounterSource& source) = 0;
  virtual Result<> sample(std::size_t jvm, const Snapshot& snapshot) = 0;
  virtual Result<> pauses(std::size_t /*jvm*/, const GcTracker& /*tracker*/, const std::vector<GcPause>& /*pauses*/,
                          const Snapshot& /*snapshot*/, const TickClock& /*clock*/, const ClockAnchor& /*anchor*/) {
    return {};
  }
  // `gone`: the JVM has ended; otherwise the poll has. Again after begin_closing() if it failed.
  virtual Result<> ended(std::size_t /*jvm*/, bool /*gone*/) { return {}; }
  // After an error: what ended() and finish() write may use the room that is kept for it. `is_full`: there was no room
  // for more, which the output then says.
  virtual void begin_closing(bool /*is_full*/) {}
  virtual Result<> flush() = 0;
  virtual Result<> finish() = 0;
};

struct PollFormat {
  bool full = false;
  bool show_secrets = false;
  NameFilter filter = {};
  bool pauses = true;                                        // XML: with the trace of pauses
  std::vector<std::pair<std::string, std::string>> options;  // written in the first sample of an XML series
};

// Writes node, processCreate and agentCreate of a source; returns the agent's id.
using WriteHead = std::function<Result<std::string>(trace::EventSink& sink, const CounterSource& source)>;

// `bytes` is borrowed and must outlive the output.
std::unique_ptr<PollOutput> xml_poll_output(trace::ByteSink& bytes, const trace::XmlWriterOptions& xml,
                                            PollFormat format, WriteHead write_head);
enum class RowFormat { kCsv, kJsonLines };
std::unique_ptr<PollOutput> row_poll_output(trace::ByteSink& bytes, RowFormat rows, PollFormat format);

}  // namespace jtrace::perfdata
