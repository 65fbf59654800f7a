// MergeStreams: what a Merger reads: the elements of all traces as lines of a spool, with what orders them, and who is
// called from where. Reading first (begin_input, take), then finish_reading(), then the rest. One thread.
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

// One element; there are as many of these as events.
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

// The calls that InvocationContexts name, and how far they are.
class MergeCallers {
 public:
  using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;  // agent, thread, ticket
  enum State : std::uint8_t { kUnknown, kAhead, kWritten };

  // The element at `offset` of the spool is called from where `context` says; false where it says nothing.
  bool note_remote(const InvocationContext* context, std::uint64_t offset);
  // True for the first element of that key that is looked for: `offset` is its place.
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
  // Nothing more comes: nodes and processes are joined, callers found after order has been made (find_callers).
  Result<> finish_reading();
  Result<> find_callers();
  bool empty() const { return !spool_; }

  const MergeOptions& options() const { return options_; }
  const std::vector<std::unique_ptr<MergeTrace>>& traces() const { return traces_; }
  const MergeTrace* find(std::string_view id) const;
  MergeHead& head() { return head_; }
  MergeCallers& callers() { return callers_; }
  // Of the trace, else the first one its agent has said; unknown where nobody has.
  MergeClock clock_of(const MergeTrace& trace) const;

  std::size_t input_count() const { return inputs_.size(); }
  std::size_t input_of(const MergeItem& item) const;
  // Good until the next call for the same input.
  Result<std::string_view> text_of(const MergeItem& item);
  // "input:line: ", for messages.
  std::string place_of(const MergeItem& item) const;
  // A line of our own, which stands in no input.
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
