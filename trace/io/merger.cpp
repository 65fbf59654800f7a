#include "trace/io/merger.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "trace/io/merge_collator.h"
#include "trace/io/merge_streams.h"
#include "trace/io/xml_source.h"

namespace jtrace::trace::io {
namespace {

constexpr std::uint64_t kLargestId = std::uint64_t{1} << 62;  // leaves room for the ids of earlier agents

using Bases = std::map<std::string, IdRange, std::less<>>;  // by agent

// Input that consists of lines.
class LineSource final : public ByteSource {
 public:
  using Next = std::function<Result<bool>(std::string& lines)>;  // appends some; false: no more
  explicit LineSource(Next next) : next_(std::move(next)) {}
  Result<std::size_t> read(char* out, std::size_t size) override {
    while (at_ == lines_.size()) {
      lines_.clear();
      at_ = 0;
      JTRACE_ASSIGN_OR_RETURN(const bool more, next_(lines_));
      if (!more && lines_.empty()) return std::size_t{0};
    }
    const std::size_t count = lines_.copy(out, size, at_);
    at_ += count;
    consumed_ += count;
    return count;
  }
  std::uint64_t consumed() const override { return consumed_; }

 private:
  Next next_;
  std::string lines_;
  std::size_t at_ = 0;
  std::uint64_t consumed_ = 0;
};

// What is added to the ids of each agent: the sum of what the earlier agents use. kMalformed if it gets too large.
Result<Bases> bases_of(const MergeStreams& streams) {
  Bases bases;
  Result<> result;
  std::map<std::string, IdRange> greatest;
  std::vector<std::string> order;
  const auto raise = [](IdRange& to, const IdRange& by, auto&& how) {
    how(to.thread, by.thread);
    how(to.class_, by.class_);
    how(to.method, by.method);
    how(to.object, by.object);
  };
  for (const auto& trace : streams.traces()) {
    const auto [at, fresh] = greatest.try_emplace(trace->agent);
    if (fresh) order.push_back(trace->agent);
    raise(at->second, trace->ids, [](std::uint64_t& a, std::uint64_t b) { a = std::max(a, b); });
  }
  IdRange base;
  for (const std::string& agent : order) {
    bases[agent] = base;
    raise(base, greatest[agent], [&](std::uint64_t& a, std::uint64_t b) {
      if (b > kLargestId || a > kLargestId)
        result = fail(ErrorCategory::kMalformed, "the ids of agent " + agent + " are too large to be renumbered");
      else a += b;
    });
  }
  if (!result) return fail(std::move(result).error());
  return bases;
}

// Changes the ids that are different in the merged document.
class Rewriter final : public EventSink {
 public:
  Rewriter(MergeStreams& streams, EventSink& next, MergeSummary& summary)
      : streams_(streams), next_(next), summary_(summary) {}
  Result<> begin() {
    if (!streams_.options().renumber) return {};
    JTRACE_ASSIGN_OR_RETURN(bases_, bases_of(streams_));
    return {};
  }
  Result<> write(const Event& event) override {
    ++summary_.elements;
    const bool aliases = streams_.head().joined() != 0 && std::holds_alternative<MethodEntry>(event);
    if (!streams_.options().renumber && !aliases) return next_.write(event);
    Event copy = event;
    InvocationContext context;
    if (auto* entry = std::get_if<MethodEntry>(&copy); entry != nullptr && entry->invocationContext != nullptr) {
      context = *entry->invocationContext;
      context.processIdRef = streams_.head().process(context.processIdRef);
      context.nodeIdRef = streams_.head().node(context.nodeIdRef);
      const auto caller = bases_.find(context.agentIdRef.view());
      if (caller != bases_.end() && is_renumbered(context.threadIdRef))
        context.threadIdRef = ThreadId(context.threadIdRef.value() + caller->second.thread);
      entry->invocationContext = &context;
    }
    if (streams_.options().renumber) move_up(copy);
    return next_.write(copy);
  }

 private:
  void move_up(Event& event) {
    IdRange& base = base_of(common_of(event).trace_id);
    visitor_.visit(event, [&](auto& id) { id = std::remove_cvref_t<decltype(id)>(id.value() + base.of(id)); });
  }
  IdRange& base_of(Text trace) {
    if (last_base_ != nullptr && trace.view() == last_trace_) return *last_base_;
    const MergeTrace* const found = streams_.find(trace.view());
    last_trace_ = trace.view();
    last_base_ = &bases_[found == nullptr ? "" : found->agent];
    return *last_base_;
  }

  MergeStreams& streams_;
  EventSink& next_;
  MergeSummary& summary_;
  Bases bases_;
  std::string last_trace_;
  IdRange* last_base_ = nullptr;
  IdVisitor visitor_;
};

// The collated traces as one stream of lines: by time, no callee before its caller.
class Interleaver {
 public:
  Interleaver(MergeStreams& streams, MergeSummary& summary)
      : streams_(streams), callers_(streams.callers()), summary_(summary), at_(streams.traces().size(), 0) {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      ++open_traces_[streams_.traces()[i]->agent];
      ready_.emplace(streams_.traces()[i]->items.front().time, i);
    }
  }
  // Appends some lines; false: no more.
  Result<bool> next_lines(std::string& lines);

 private:
  Result<> emit(std::size_t index, std::string& lines);

  MergeStreams& streams_;
  MergeCallers& callers_;
  MergeSummary& summary_;
  using Head = std::pair<std::uint64_t, std::size_t>;  // time, trace
  std::priority_queue<Head, std::vector<Head>, std::greater<>> ready_;
  std::map<MergeCallers::Key, std::vector<std::size_t>> parked_;  // traces that wait for it
  std::vector<std::size_t> at_;                                   // next item of each trace
  std::map<std::string, std::size_t> open_traces_;                // agent -> traces that have not ended
};

Result<> Interleaver::emit(std::size_t index, std::string& lines) {
  MergeTrace& trace = *streams_.traces()[index];
  const MergeItem& item = trace.items[at_[index]++];
  JTRACE_ASSIGN_OR_RETURN(const std::string_view text, streams_.text_of(item));
  lines += text;
  if (item.is_remote) {
    const auto state = callers_.state(callers_.caller_of(item));
    ++(state == MergeCallers::kUnknown ? summary_.remote_unknown
       : state == MergeCallers::kAhead ? summary_.remote_circular
                                       : summary_.remote_calls);
  }
  if (item.is_caller) {
    const MergeCallers::Key& key = callers_.key_of(item);
    if (const auto waiting = parked_.find(key); waiting != parked_.end()) {
      for (const std::size_t each : waiting->second)
        ready_.emplace(streams_.traces()[each]->items[at_[each]].time, each);
      parked_.erase(waiting);
    }
    callers_.state(key) = MergeCallers::kWritten;
  }
  if (at_[index] < trace.items.size()) {
    ready_.emplace(trace.items[at_[index]].time, index);
    return {};
  }
  trace.items = {};
  if (--open_traces_[trace.agent] != 0) return {};
  MemorySink bytes;
  XmlWriter writer(bytes, {.form = XmlForm::kFragments});
  JTRACE_RETURN_IF_ERROR(streams_.head().write_end(writer, trace.agent));
  JTRACE_RETURN_IF_ERROR(writer.finish());
  lines += bytes.text();
  return {};
}

Result<bool> Interleaver::next_lines(std::string& lines) {
  constexpr std::size_t kPiece = 64u << 10;
  while (lines.size() < kPiece) {
    if (ready_.empty()) {
      if (parked_.empty()) return false;
      // Callers and callees wait for one another: the clocks or the ids are wrong.
      const std::vector<std::size_t> waiting = parked_.begin()->second;
      parked_.erase(parked_.begin());
      for (const std::size_t each : waiting) JTRACE_RETURN_IF_ERROR(emit(each, lines));
      continue;
    }
    const std::size_t index = ready_.top().second;
    ready_.pop();
    const MergeItem& item = streams_.traces()[index]->items[at_[index]];
    if (item.is_remote) {
      const MergeCallers::Key& key = callers_.caller_of(item);
      if (callers_.state(key) == MergeCallers::kAhead) {
        parked_[key].push_back(index);
        continue;
      }
    }
    JTRACE_RETURN_IF_ERROR(emit(index, lines));
  }
  return true;
}

}  // namespace

class Merger::Input final : public EventSink {
 public:
  explicit Input(MergeStreams& streams) : streams_(streams) {}
  Result<> write(const Event& event) override { return streams_.take(event); }

 private:
  MergeStreams& streams_;
};

Merger::Merger(MergeOptions options) : streams_(std::make_unique<MergeStreams>(std::move(options))) {}
Merger::~Merger() = default;

Result<ReadSummary> Merger::add(EventSource& source, const std::string& name) {
  JTRACE_RETURN_IF_ERROR(streams_->begin_input(name, source));
  Input input(*streams_);
  return source.read(input);
}

std::size_t Merger::trace_count() const { return streams_->traces().size(); }

Result<MergeSummary> Merger::write(EventSink& sink) {
  MergeSummary summary{.traces = trace_count()};
  if (streams_->empty()) return summary;
  JTRACE_RETURN_IF_ERROR(streams_->finish_reading());
  MergeHead& head = streams_->head();
  summary.joined_processes = head.joined();
  summary.differences = head.differences();
  MergeCollator collator(*streams_, summary);
  for (const auto& trace : streams_->traces()) JTRACE_RETURN_IF_ERROR(collator.collate(*trace));
  JTRACE_RETURN_IF_ERROR(streams_->find_callers());

  Rewriter rewriter(*streams_, sink, summary);
  JTRACE_RETURN_IF_ERROR(rewriter.begin());
  CountingSink counted(&sink);
  JTRACE_RETURN_IF_ERROR(head.write(counted));
  if (trace_count() != 0) {
    Interleaver interleaver(*streams_, summary);
    FaultLog faults;  // everything was reported before
    XmlSource merged(std::make_unique<LineSource>([&](std::string& lines) { return interleaver.next_lines(lines); }),
                     "the merged stream", faults);
    JTRACE_RETURN_IF_ERROR(merged.read(rewriter));
  }
  JTRACE_RETURN_IF_ERROR(head.write_other_ends(counted));
  summary.elements += counted.total();
  return summary;
}

}  // namespace jtrace::trace::io
