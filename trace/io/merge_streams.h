// MergeStreams: the input of a Merger: the elements of all traces as lines of a spool, with the keys that order them,
// and the callers of remote calls. First read (begin_input, take), then finish_reading(), then the rest. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "trace/event_sink.h"
#include "trace/io/event_source.h"
#include "trace/io/merge_head.h"
#include "trace/io/merger.h"
#include "trace/io/renumberer.h"
#include "trace/io/scopes.h"
#include "trace/io/spool.h"

namespace jtrace::trace::io {

// One element; there are as many of these objects as events.
struct MergeItem {
  std::uint64_t key = 0;   // collationValue; in a trace without any: time
  std::uint64_t time = 0;  // ns, 0: none of its own
  std::uint64_t offset = 0;
  std::uint32_t size : 28 = 0;
  std::uint32_t collates : 1 = false;   // the key is its own
  std::uint32_t is_remote : 1 = false;  // has an InvocationContext
  std::uint32_t is_caller : 1 = false;  // an InvocationContext names it
  std::uint32_t is_end : 1 = false;     // traceEnd
  std::uint32_t line = 0;               // in its input
};
static_assert(sizeof(MergeItem) == 32);

struct MergeTrace {
  std::string id, agent;
  std::vector<MergeItem> items;
  IdRange ids;
  bool collates = false;
  // While reading:
  std::size_t input = 0;
  std::uint64_t last_key = 0, last_time = 0;
};

struct MergeClock {  // ns
  std::uint64_t monotonic = 0, realtime = 0;
  bool known = false;
};

// The calls that InvocationContexts name, and whether they were found.
class MergeCallers {
 public:
  using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;  // agent, thread, ticket
  enum State : std::uint8_t { kUnknown, kAhead, kWritten };

  // An InvocationContext of the element at `offset` of the spool names its caller; false if it names none.
  bool note_remote(const InvocationContext* context, std::uint64_t offset);
  // True for the first element with that key, if the key is searched: its position is `offset`.
  bool note_caller(const Key& key, std::uint64_t offset);

  bool empty() const { return states_.empty(); }
  const Key& caller_of(const MergeItem& remote) const { return remotes_.at(remote.offset); }
  const Key& key_of(const MergeItem& caller) const { return callers_.at(caller.offset); }
  State& state(const Key& key) { return states_[key]; }

 private:
  std::map<Key, State> states_;
  std::map<std::uint64_t, Key> remotes_;  // by the callee's offset
  std::map<std::uint64_t, Key> callers_;  // by the caller's offset
};

class MergeStreams {
 public:
  explicit MergeStreams(MergeOptions options) : options_(std::move(options)) {}

  Result<> begin_input(const std::string& name, const EventSource& source);
  Result<> take(const Event& event);
  // Call it after the last input: nodes and processes are joined; callers are found after ordering (find_callers).
  Result<> finish_reading();
  Result<> find_callers();
  bool empty() const { return !spool_; }

  const MergeOptions& options() const { return options_; }
  const std::vector<std::unique_ptr<MergeTrace>>& traces() const { return traces_; }
  const MergeTrace* find(std::string_view id) const;
  MergeHead& head() { return head_; }
  MergeCallers& callers() { return callers_; }
  // The clock of the trace, otherwise the first one of its agent; unknown if neither has one.
  MergeClock clock_of(const MergeTrace& trace) const;

  std::size_t input_count() const { return inputs_.size(); }
  std::size_t input_of(const MergeItem& item) const;
  // Valid until the next call for the same input.
  Result<std::string_view> text_of(const MergeItem& item);
  // "input:line: ", for messages.
  std::string place_of(const MergeItem& item) const;
  // Adds a line that no input has.
  MergeItem add_line(std::uint64_t key, std::string line);

 private:
  struct InputFile {
    std::string name;
    std::uint64_t offset;  // of its first element in the spool
  };
  MergeTrace& trace_of(std::string_view id);
  void note_option(const MergeTrace& trace, const Option& option);
  void note_order(MergeTrace& trace, const Common& common, MergeItem& item) const;
  void note_ids(MergeTrace& trace, const Event& event);

  MergeOptions options_;
  std::unique_ptr<Spool> spool_;
  std::vector<InputFile> inputs_;
  const EventSource* source_ = nullptr;
  std::string current_trace_;
  MergeHead head_;
  MergeCallers callers_;
  std::vector<std::unique_ptr<MergeTrace>> traces_;
  std::unordered_map<std::string, std::size_t> by_id_;
  MergeTrace* last_ = nullptr;
  IdVisitor visitor_;
  std::map<std::string, std::string> vms_;  // trace -> jtrace.vm
  std::map<std::string, MergeClock, std::less<>> clocks_, agent_clocks_;
  std::vector<std::string> extra_;  // lines of our own
};

}  // namespace jtrace::trace::io
