#include "trace/io/merger.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "trace/io/element_builder.h"
#include "trace/io/merge_head.h"
#include "trace/io/renumberer.h"
#include "trace/io/scopes.h"
#include "trace/io/spool.h"
#include "trace/io/xml_source.h"

namespace jtrace::trace::io {
namespace {

constexpr std::uint64_t kLargestId = std::uint64_t{1} << 62;  // room for the ids of the agents before

struct Item {
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
static_assert(sizeof(Item) == 32);

struct Clock {  // ns
  std::uint64_t monotonic = 0, realtime = 0;
  bool known = false;
};

// "monotonic=S.N,realtime=S.N,resolution=S.N".
Clock clock_of(std::string_view text) {
  Clock clock;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = std::min(part.find('='), part.size() - (part.empty() ? 0 : 1));
    const auto time = part.empty() ? std::nullopt : parse_time(part.substr(equals + 1));
    if (time && part.starts_with("monotonic=")) clock.monotonic = *time;
    if (time && part.starts_with("realtime=")) clock.realtime = *time;
  }
  clock.known = clock.monotonic != 0 && clock.realtime != 0;
  return clock;
}

// The call that an InvocationContext names.
using CallKey = std::tuple<std::string, std::uint64_t, std::uint64_t>;  // agent, thread, ticket
enum CallState : std::uint8_t { kUnknown, kAhead, kWritten };

struct Trace {
  std::string id, agent;
  std::vector<Item> items;
  IdRange ids;
  bool collates = false;
  // While reading:
  std::size_t input = 0;
  std::uint64_t last_key = 0, last_time = 0;
};

// A number in a line of our own writer; 2^64-1 where there is none.
std::uint64_t number_in(std::string_view line, std::string_view attribute) {
  const std::size_t at = line.find(attribute);
  if (at == std::string_view::npos) return std::numeric_limits<std::uint64_t>::max();
  const std::size_t from = at + attribute.size();
  return parse_words(line.substr(from, line.find('"', from) - from))
      .value_or(std::numeric_limits<std::uint64_t>::max());
}

// Bytes that come as lines.
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

}  // namespace

class Merger::Inside {
 public:
  explicit Inside(MergeOptions options) : options_(std::move(options)) {}

  Result<> begin_input(const std::string& name, const EventSource& source) {
    if (!spool_) {
      JTRACE_ASSIGN_OR_RETURN(spool_, Spool::create(options_.spool_folder));
    }
    inputs_.push_back({name, spool_->size()});
    source_ = &source;
    current_trace_.clear();
    return {};
  }

  Result<> take(const Event& event) {
    JTRACE_ASSIGN_OR_RETURN(const bool is_head, head_.take(event, inputs_.back().name));
    if (is_head) return {};
    const Common common = common_of(event);
    if (const auto* start = std::get_if<TraceStart>(&event)) current_trace_ = start->traceId.view();
    Trace& trace = trace_of(common.trace_id.present() ? common.trace_id.view() : std::string_view(current_trace_));
    if (const auto* start = std::get_if<TraceStart>(&event)) trace.agent = start->agentIdRef.view();
    if (const auto* option = std::get_if<Option>(&event)) note_option(trace, *option);
    Item item;
    item.is_end = std::holds_alternative<TraceEnd>(event);
    note_order(trace, common, item);
    if (const auto* entry = std::get_if<MethodEntry>(&event)) note_remote(*entry, item);
    JTRACE_ASSIGN_OR_RETURN(const Event own, with_trace(event, trace));
    JTRACE_ASSIGN_OR_RETURN(const Spool::Place place, spool_->write(own));
    item.offset = place.offset;
    item.size = place.size & 0xfffffffu;
    item.line = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(source_->position().line, std::numeric_limits<std::uint32_t>::max()));
    if (options_.renumber) note_ids(trace, own);
    trace.items.push_back(item);
    return {};
  }

  std::size_t trace_count() const { return traces_.size(); }

  Result<MergeSummary> write(EventSink& sink);

 private:
  struct InputFile {
    std::string name;
    std::uint64_t offset;  // of its first element in the spool
  };
  class Rewriter;

  // -- reading
  Trace& trace_of(std::string_view id) {
    if (last_ != nullptr && last_->id == id) return *last_;
    const auto [at, fresh] = by_id_.try_emplace(std::string(id), traces_.size());
    if (fresh) {
      traces_.push_back(std::make_unique<Trace>());
      traces_.back()->id = id;
    }
    last_ = traces_[at->second].get();
    return *last_;
  }
  void note_option(const Trace& trace, const Option& option) {
    if (option.key.view() == "jtrace.vm") vms_.emplace(trace.id, option.value.view());
    if (option.key.view() == "jtrace.clock") clocks_.emplace(trace.id, clock_of(option.value.view()));
  }
  void note_order(Trace& trace, const Common& common, Item& item) const {
    if (trace.input != inputs_.size()) {
      trace.input = inputs_.size();
      trace.last_key = trace.last_time = 0;
    }
    item.time = common.time.value_or(0);
    trace.last_time = std::max(trace.last_time, item.time);
    item.collates = common.collation.present();
    trace.collates = trace.collates || item.collates;
    if (item.collates) trace.last_key = common.collation.value();
    // Until it is known whether the trace has collationValues: the time stands in for them.
    item.key = trace.collates ? trace.last_key : trace.last_time;
  }
  void note_remote(const MethodEntry& entry, Item& item) {
    const InvocationContext* context = entry.invocationContext;
    if (context == nullptr || !context->agentIdRef.present() || !context->threadIdRef.present()) return;
    item.is_remote = true;
    wanted_.emplace(CallKey(context->agentIdRef.view(), context->threadIdRef.value(), context->ticket.value_or(0)),
                    kUnknown);
    remote_keys_.emplace(
        spool_->size(), CallKey(context->agentIdRef.view(), context->threadIdRef.value(), context->ticket.value_or(0)));
  }
  static Result<Event> with_trace(const Event& event, const Trace& trace) {
    Event copy = event;
    if (trace.id.empty()) return copy;
    std::visit(
        [&](auto& element) {
          if constexpr (requires { element.traceIdRef; }) element.traceIdRef = trace.id;
        },
        copy);
    return copy;
  }
  void note_ids(Trace& trace, const Event& event) {
    Event copy = event;
    visitor_.visit(copy, [&](auto& id) {
      std::uint64_t& greatest = trace.ids.of(id);
      greatest = std::max(greatest, id.value());
    });
  }

  // -- collating
  Result<> collate(Trace& trace, MergeSummary& summary);
  Result<> drop_duplicates(Trace& trace, MergeSummary& summary);
  void mark_gaps(Trace& trace, MergeSummary& summary);
  void set_times(Trace& trace);
  Result<> find_callers();
  std::int64_t clock_shift(const Trace& trace);
  std::size_t input_of(const Item& item) const {
    const auto after =
        std::upper_bound(inputs_.begin(), inputs_.end(), item.offset,
                         [](std::uint64_t offset, const InputFile& input) { return offset < input.offset; });
    return static_cast<std::size_t>(after - inputs_.begin()) - 1;
  }
  bool is_extra(const Item& item) const { return item.offset >= spool_->size(); }
  Result<std::string_view> text_of(const Item& item) {
    if (is_extra(item)) return std::string_view(extra_[item.offset - spool_->size()]);
    return spool_->read({item.offset, item.size}, input_of(item));
  }
  std::string place_of(const Item& item) const { return at_position(inputs_[input_of(item)].name, {item.line, 0}, ""); }

  // -- writing
  Result<bool> next_lines(std::string& lines, MergeSummary& summary);
  Result<> emit(std::size_t trace, std::string& lines, MergeSummary& summary);
  void renumber_from(std::map<std::string, IdRange, std::less<>>& bases, Result<>& result);

  MergeOptions options_;
  std::unique_ptr<Spool> spool_;
  std::vector<InputFile> inputs_;
  const EventSource* source_ = nullptr;
  std::string current_trace_;
  MergeHead head_;
  std::vector<std::unique_ptr<Trace>> traces_;
  std::unordered_map<std::string, std::size_t> by_id_;
  Trace* last_ = nullptr;
  IdVisitor visitor_;
  std::map<std::string, std::string> vms_;  // trace -> jtrace.vm
  std::map<std::string, Clock> clocks_;     // trace -> its first clock
  std::map<std::string, Clock> node_clocks_, agent_clocks_;
  std::vector<std::string> extra_;  // lines of our own: marks of gaps

  std::map<CallKey, CallState> wanted_;                 // callers
  std::map<std::uint64_t, CallKey> remote_keys_;        // offset of the callee -> caller
  std::map<std::uint64_t, CallKey> caller_keys_;        // offset of the caller
  std::map<CallKey, std::vector<std::size_t>> parked_;  // traces that wait for it

  using Head = std::pair<std::uint64_t, std::size_t>;  // time, trace
  std::priority_queue<Head, std::vector<Head>, std::greater<>> ready_;
  std::vector<std::size_t> at_;                     // next item of each trace
  std::map<std::string, std::size_t> open_traces_;  // agent -> traces that go on
};

Result<> Merger::Inside::collate(Trace& trace, MergeSummary& summary) {
  if (trace.collates) {
    // Those that came before the first collationValue of their input have a time for a key.
    std::size_t input = inputs_.size();
    bool seen = false;
    for (Item& item : trace.items) {
      if (const std::size_t of = input_of(item); of != input) {
        input = of;
        seen = false;
      }
      seen = seen || item.collates;
      if (!seen) item.key = 0;
      if (item.is_end && !item.collates) item.key = std::numeric_limits<std::uint64_t>::max();
    }
  }
  const auto less = [](const Item& a, const Item& b) { return a.key < b.key; };
  if (!std::is_sorted(trace.items.begin(), trace.items.end(), less))
    std::stable_sort(trace.items.begin(), trace.items.end(), less);
  JTRACE_RETURN_IF_ERROR(drop_duplicates(trace, summary));
  if (trace.collates) mark_gaps(trace, summary);
  set_times(trace);
  return {};
}

Result<> Merger::Inside::drop_duplicates(Trace& trace, MergeSummary& summary) {
  std::vector<Item>& items = trace.items;
  std::size_t out = 0;
  for (std::size_t from = 0, to; from < items.size(); from = to) {
    bool several = false;
    for (to = from + 1; to < items.size() && items[to].key == items[from].key; ++to)
      several = several || (items[to].collates && items[from].collates) || input_of(items[to]) != input_of(items[from]);
    std::size_t own = items.size();                 // the one whose collationValue this is
    std::unordered_set<std::string> others;         // those without, of the inputs before
    std::unordered_set<std::string> of_this_input;  // ... of the current one
    std::size_t input = inputs_.size();
    for (std::size_t i = from; i < to; ++i) {
      if (!several) {
        items[out++] = items[i];
        continue;
      }
      JTRACE_ASSIGN_OR_RETURN(const std::string_view line, text_of(items[i]));
      const std::string text(line);
      bool again = false;
      if (items[i].collates && own != items.size()) {
        JTRACE_ASSIGN_OR_RETURN(const std::string_view first, text_of(items[own]));
        if (first != text)
          return fail(ErrorCategory::kMalformed, place_of(items[i]) + "another element has the collationValue " +
                                                     std::to_string(items[i].key) + " of trace " + trace.id + ": " +
                                                     place_of(items[own]) + "differs");
        again = true;
      } else if (items[i].collates) {
        own = out;
      } else {
        if (input_of(items[i]) != input) {
          input = input_of(items[i]);
          others.merge(of_this_input);
        }
        again = others.count(text) != 0;
        of_this_input.insert(text);
      }
      if (again) ++summary.duplicates;
      else items[out++] = items[i];
    }
  }
  items.resize(out);
  return {};
}

// Behind the element before each gap: option jtrace.dropped, where none stands there already.
void Merger::Inside::mark_gaps(Trace& trace, MergeSummary& summary) {
  std::uint64_t expected = 1;
  std::vector<std::pair<std::size_t, std::uint64_t>> marks;  // before this item, so many
  std::size_t after_last = 0;                                // behind the last one that collates
  for (std::size_t i = 0; i < trace.items.size(); ++i) {
    const Item& item = trace.items[i];
    if (!item.collates) continue;
    if (item.key > expected) {
      summary.gaps.push_back({trace.id, expected, item.key - 1});
      bool marked = false;
      for (std::size_t between = after_last; between < i && !marked; ++between) {
        const auto text = text_of(trace.items[between]);
        marked = text && text->find("key=\"jtrace.dropped\"") != std::string_view::npos;
      }
      if (!marked) marks.emplace_back(i, item.key - expected);
    }
    expected = item.key + 1;
    after_last = i + 1;
  }
  if (marks.empty()) return;
  std::vector<Item> items;
  items.reserve(trace.items.size() + marks.size());
  auto mark = marks.begin();
  for (std::size_t i = 0; i < trace.items.size(); ++i) {
    if (mark != marks.end() && mark->first == i) {
      const std::string count = std::to_string(mark->second);
      extra_.push_back("<option key=\"jtrace.dropped\" value=\"" + count + "\" traceIdRef=\"" + trace.id + "\"/>\n");
      items.push_back({.key = trace.items[i].key, .offset = spool_->size() + extra_.size() - 1});
      ++mark;
    }
    items.push_back(trace.items[i]);
  }
  trace.items = std::move(items);
}

// From here on Item::time is what orders traces among themselves: it never goes back within one.
void Merger::Inside::set_times(Trace& trace) {
  const std::int64_t shift = clock_shift(trace);
  std::uint64_t last = 0;
  for (const Item& item : trace.items)
    if (item.time != 0) {
      last = item.time;
      break;
    }
  for (Item& item : trace.items) {
    last = std::max(last, item.time);
    item.time = last;
  }
  if (shift == 0) return;
  for (Item& item : trace.items)
    item.time = static_cast<std::uint64_t>(std::max<std::int64_t>(static_cast<std::int64_t>(item.time) + shift, 0));
}

// What brings the trace's times onto the clock of its node's first trace: both know the monotonic clock.
std::int64_t Merger::Inside::clock_shift(const Trace& trace) {
  const auto own = clocks_.find(trace.id);
  // A series has the clock in its first trace.
  const Clock clock = own != clocks_.end() ? own->second : agent_clocks_[trace.agent];
  const std::string node = head_.node_of(trace.agent);
  if (!clock.known || node.empty()) return 0;
  const Clock first = node_clocks_.try_emplace(node, clock).first->second;
  const auto offset = [](const Clock& c) { return static_cast<std::int64_t>(c.realtime - c.monotonic); };
  return offset(first) - offset(clock);
}

// Which of the entries and calls are what an InvocationContext names. Only where there are any.
Result<> Merger::Inside::find_callers() {
  if (wanted_.empty()) return {};
  for (const auto& trace : traces_) {
    for (Item& item : trace->items) {
      JTRACE_ASSIGN_OR_RETURN(const std::string_view line, text_of(item));
      if (!line.starts_with("<methodEntry ") && !line.starts_with("<methodCall ")) continue;
      const std::uint64_t ticket = number_in(line, " ticket=\"");
      const CallKey key(trace->agent, number_in(line, " threadIdRef=\""),
                        ticket == std::numeric_limits<std::uint64_t>::max() ? 0 : ticket);
      const auto found = wanted_.find(key);
      if (found == wanted_.end() || found->second != kUnknown) continue;
      found->second = kAhead;
      item.is_caller = true;
      caller_keys_.emplace(item.offset, key);
    }
  }
  return {};
}

void Merger::Inside::renumber_from(std::map<std::string, IdRange, std::less<>>& bases, Result<>& result) {
  std::map<std::string, IdRange> greatest;
  std::vector<std::string> order;
  const auto raise = [](IdRange& to, const IdRange& by, auto&& how) {
    how(to.thread, by.thread);
    how(to.class_, by.class_);
    how(to.method, by.method);
    how(to.object, by.object);
  };
  for (const auto& trace : traces_) {
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
}

// Puts the ids right that the merged document has otherwise.
class Merger::Inside::Rewriter final : public EventSink {
 public:
  Rewriter(Inside& inside, EventSink& next, MergeSummary& summary) : inside_(inside), next_(next), summary_(summary) {}
  Result<> begin() {
    Result<> result;
    if (inside_.options_.renumber) inside_.renumber_from(bases_, result);
    return result;
  }
  Result<> write(const Event& event) override {
    ++summary_.elements;
    const bool aliases = inside_.head_.joined() != 0 && std::holds_alternative<MethodEntry>(event);
    if (!inside_.options_.renumber && !aliases) return next_.write(event);
    Event copy = event;
    InvocationContext context;
    if (auto* entry = std::get_if<MethodEntry>(&copy); entry != nullptr && entry->invocationContext != nullptr) {
      context = *entry->invocationContext;
      context.processIdRef = inside_.head_.process(context.processIdRef);
      context.nodeIdRef = inside_.head_.node(context.nodeIdRef);
      const auto caller = bases_.find(context.agentIdRef.view());
      if (caller != bases_.end() && is_renumbered(context.threadIdRef))
        context.threadIdRef = ThreadId(context.threadIdRef.value() + caller->second.thread);
      entry->invocationContext = &context;
    }
    if (inside_.options_.renumber) move_up(copy);
    return next_.write(copy);
  }

 private:
  void move_up(Event& event) {
    IdRange& base = base_of(common_of(event).trace_id);
    visitor_.visit(event, [&](auto& id) { id = std::remove_cvref_t<decltype(id)>(id.value() + base.of(id)); });
  }
  IdRange& base_of(Text trace) {
    if (last_base_ != nullptr && trace.view() == last_trace_) return *last_base_;
    const auto found = inside_.by_id_.find(std::string(trace.view()));
    last_trace_ = trace.view();
    last_base_ = &bases_[found == inside_.by_id_.end() ? "" : inside_.traces_[found->second]->agent];
    return *last_base_;
  }

  Inside& inside_;
  EventSink& next_;
  MergeSummary& summary_;
  std::map<std::string, IdRange, std::less<>> bases_;
  std::string last_trace_;
  IdRange* last_base_ = nullptr;
  IdVisitor visitor_;
};

Result<> Merger::Inside::emit(std::size_t index, std::string& lines, MergeSummary& summary) {
  Trace& trace = *traces_[index];
  const Item& item = trace.items[at_[index]++];
  JTRACE_ASSIGN_OR_RETURN(const std::string_view text, text_of(item));
  lines += text;
  if (item.is_remote) {
    const CallState state = wanted_[remote_keys_.at(item.offset)];
    ++(state == kUnknown ? summary.remote_unknown : state == kAhead ? summary.remote_circular : summary.remote_calls);
  }
  if (item.is_caller) {
    const auto key = caller_keys_.find(item.offset);
    if (const auto waiting = parked_.find(key->second); waiting != parked_.end()) {
      for (const std::size_t each : waiting->second) ready_.emplace(traces_[each]->items[at_[each]].time, each);
      parked_.erase(waiting);
    }
    wanted_[key->second] = kWritten;
  }
  if (at_[index] < trace.items.size()) {
    ready_.emplace(trace.items[at_[index]].time, index);
    return {};
  }
  trace.items = {};
  if (--open_traces_[trace.agent] != 0) return {};
  MemorySink bytes;
  XmlWriter writer(bytes, {.form = XmlForm::kFragments});
  JTRACE_RETURN_IF_ERROR(head_.write_end(writer, trace.agent));
  JTRACE_RETURN_IF_ERROR(writer.finish());
  lines += bytes.text();
  return {};
}

Result<bool> Merger::Inside::next_lines(std::string& lines, MergeSummary& summary) {
  constexpr std::size_t kPiece = 64u << 10;
  while (lines.size() < kPiece) {
    if (ready_.empty()) {
      if (parked_.empty()) return false;
      // Callers and callees wait for one another: the clocks lie, or the ids.
      const std::vector<std::size_t> waiting = parked_.begin()->second;
      parked_.erase(parked_.begin());
      for (const std::size_t each : waiting) JTRACE_RETURN_IF_ERROR(emit(each, lines, summary));
      continue;
    }
    const std::size_t index = ready_.top().second;
    ready_.pop();
    const Item& item = traces_[index]->items[at_[index]];
    if (item.is_remote) {
      const CallKey& key = remote_keys_.at(item.offset);
      if (wanted_[key] == kAhead) {
        parked_[key].push_back(index);
        continue;
      }
    }
    JTRACE_RETURN_IF_ERROR(emit(index, lines, summary));
  }
  return true;
}

Result<MergeSummary> Merger::Inside::write(EventSink& sink) {
  MergeSummary summary{.traces = traces_.size()};
  if (!spool_) return summary;
  JTRACE_RETURN_IF_ERROR(spool_->finish());
  for (const auto& [id, vm] : vms_) head_.note_vm(traces_[by_id_[id]]->agent, vm);
  head_.join();
  summary.joined_processes = head_.joined();
  summary.differences = head_.differences();
  for (const auto& trace : traces_)
    if (const auto clock = clocks_.find(trace->id); clock != clocks_.end())
      agent_clocks_.try_emplace(trace->agent, clock->second);
  for (const auto& trace : traces_) JTRACE_RETURN_IF_ERROR(collate(*trace, summary));
  JTRACE_RETURN_IF_ERROR(find_callers());

  Rewriter rewriter(*this, sink, summary);
  JTRACE_RETURN_IF_ERROR(rewriter.begin());
  CountingSink counted(&sink);
  JTRACE_RETURN_IF_ERROR(head_.write(counted));
  at_.assign(traces_.size(), 0);
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    ++open_traces_[traces_[i]->agent];
    ready_.emplace(traces_[i]->items.front().time, i);
  }
  if (!traces_.empty()) {
    FaultLog faults;  // what there was to say has been said
    XmlSource merged(std::make_unique<LineSource>([&](std::string& lines) { return next_lines(lines, summary); }),
                     "the merged stream", faults);
    JTRACE_RETURN_IF_ERROR(merged.read(rewriter));
  }
  JTRACE_RETURN_IF_ERROR(head_.write_other_ends(counted));
  summary.elements += counted.total();
  return summary;
}

class Merger::Input final : public EventSink {
 public:
  explicit Input(Inside& inside) : inside_(inside) {}
  Result<> write(const Event& event) override { return inside_.take(event); }

 private:
  Inside& inside_;
};

Merger::Merger(MergeOptions options) : inside_(std::make_unique<Inside>(std::move(options))) {}
Merger::~Merger() = default;

Result<ReadSummary> Merger::add(EventSource& source, const std::string& name) {
  JTRACE_RETURN_IF_ERROR(inside_->begin_input(name, source));
  Input input(*inside_);
  return source.read(input);
}
std::size_t Merger::trace_count() const { return inside_->trace_count(); }
Result<MergeSummary> Merger::write(EventSink& sink) { return inside_->write(sink); }

}  // namespace jtrace::trace::io
