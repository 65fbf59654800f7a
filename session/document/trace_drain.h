// TraceDrain: drains the pool of a running trace into documents (Drainer) or spills (Spiller). It has the lifecycle:
// begin, passes, notes between them, the end or the next trace, a new document if one is full. The back end, which
// writes the document's contents, implements the private functions. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "session/document/document_output.h"
#include "session/document/method_counts.h"
#include "session/options/options.h"
#include "trace/record/record_source.h"

namespace jtrace::session {

// What a document has about the trace itself, besides its events.
struct FiltersNote {  // a new block of filters is active
  std::vector<FilterRule> filters;
};
struct PausedNote {
  bool paused;
};
// The process is stopped from `time` on, or was until then (monotonic). Written at its place among the events.
struct StandstillNote {
  std::uint64_t time;
  bool still;
};
struct OptionNote {
  std::string key, value;
};
using TraceNote = std::variant<FiltersNote, PausedNote, StandstillNote, MethodCounts, OptionNote>;

struct DrainFigures {
  std::uint64_t events = 0;  // written
  std::uint64_t malformed = 0;
  std::uint64_t made_up_definitions = 0;
};

class TraceDrain {
 public:
  using Mode = trace::record::RecordSource::Mode;
  using Pass = trace::record::RecordSource::Pass;

  TraceDrain(const TraceDrain&) = delete;
  TraceDrain& operator=(const TraceDrain&) = delete;
  virtual ~TraceDrain() = default;

  // The head. `time`: monotonic, of the trace's start.
  Result<> begin(std::uint64_t time);
  // One pass, written and flushed; frees what was drained. Errors are the output's.
  Result<Pass> pass(Mode mode) { return take(mode); }
  Result<> write(const TraceNote& note) { return write_note(note); }
  // Writes everything that the pool still has, and the end. The output is complete afterwards, unless its destination
  // fails. `mode`: kFinal or kReadOnly. Returns the first error.
  Result<> end(Mode mode) { return in_trace_ ? end_trace(mode) : Result<>(); }

  // The trace ends (the agent is paused): as end(), but a new one may follow.
  Result<> end_trace(Mode mode);
  // The next trace, in an output of its own.
  Result<> begin_next_trace();

  // Called for the counts when a document ends at a limit and the trace continues. Set before begin().
  using Counter = std::function<Result<MethodCounts>()>;
  void set_counter(Counter counter) { counter_ = std::move(counter); }
  // The counts for the end of the trace; or why there are none.
  void set_last_counts(MethodCounts counts) { last_counts_ = std::move(counts); }
  void set_uncounted(std::string why) { uncounted_ = std::move(why); }
  // Of a replayed spill: its output was full before it had all records.
  void set_cut() { cut_ = true; }
  // The document has reached --max-size and has its counts.
  bool is_counted_out() const { return counted_out_; }

  const TraceOptions& options() const { return options_; }
  std::uint64_t documents() const { return documents_; }
  bool in_trace() const { return in_trace_; }
  virtual DrainFigures figures() const = 0;

 protected:
  // `output`: borrowed. The events of `options` are those that the agent has switched on.
  TraceDrain(DocumentOutput& output, TraceOptions options) : output_(output), options_(std::move(options)) {}

  DocumentOutput& output() { return output_; }
  void set_filters(std::vector<FilterRule> filters) { options_.filters = std::move(filters); }
  // Whether watch_size() has anything to watch.
  bool watches_size() const;
  // Between two events or parts, `reserve` bytes before the limit: the document ends, and with rotation the next one
  // begins; kPartial without rotation. `time`: monotonic, of the next event.
  Result<> watch_size(std::uint64_t time, std::uint64_t reserve = 0);

  // A document has its traceStart: from here on it needs an end.
  void enter_trace() { in_trace_ = true; }

  // How a further document begins.
  enum class Further { kSameTrace, kNextTrace };
  // What ends: the trace; a document within it, which another one continues; the events of a full document.
  enum class Ending { kTrace, kDocument, kEvents };
  struct End {
    std::vector<TraceNote> notes;  // to be written last
    Mode mode = Mode::kLive;
    std::optional<std::uint64_t> time;  // of a document within the trace; otherwise the back end knows it
    bool cut = false;                   // the output was full before all events were written
  };
  // The room of a document's counts.
  struct CountRoom {
    std::uint64_t methods = 0;  // that are known
    std::uint64_t bytes = 0;    // of each
  };

 private:
  // The back end. Times are monotonic.
  virtual Result<> begin_document(std::uint64_t time) = 0;
  virtual Result<> begin_further_document(std::uint64_t time, Further how) = 0;
  virtual Result<Pass> take(Mode mode) = 0;
  virtual Result<> write_note(const TraceNote& note) = 0;
  // Writes everything that is held back, and the open parts that belong before this end.
  virtual Result<> settle(Ending ending) = 0;
  // The end of the document, and of the output.
  virtual Result<> finish_document(const End& end) = 0;
  virtual CountRoom count_room() const = 0;

  Result<> rotate(std::uint64_t time);
  Result<> write_counts_of_document();
  Result<> begin_further(std::uint64_t time, std::uint32_t keep, Further how);

  DocumentOutput& output_;
  TraceOptions options_;
  bool in_trace_ = false;
  bool rotating_ = false;
  Counter counter_;
  std::optional<MethodCounts> last_counts_;
  std::string uncounted_;  // why the document has no counts at its end, "": it has, or needs none
  bool counted_out_ = false;
  bool cut_ = false;
  std::uint64_t documents_ = 1;
};

}  // namespace jtrace::session
