#include "trace/io/merge_streams.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/strings.h"
#include "trace/io/element_builder.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

constexpr auto kNone = std::numeric_limits<std::uint64_t>::max();

// "monotonic=S.N,realtime=S.N,resolution=S.N".
MergeClock clock_in(std::string_view text) {
  MergeClock clock;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = std::min(part.find('='), part.size() - (part.empty() ? 0 : 1));
    const auto time = part.empty() ? std::nullopt : parse_time(part.substr(equals + 1));
    if (time && part.starts_with("monotonic=")) clock.monotonic = *time;
    if (time && part.starts_with("realtime=")) clock.realtime = *time;
  }
  clock.known = clock.monotonic != 0 && clock.realtime != 0;
  return clock;
}

// A number in a line of our own writer; kNone if it is missing.
std::uint64_t number_in(std::string_view line, std::string_view attribute) {
  const std::size_t at = line.find(attribute);
  if (at == std::string_view::npos) return kNone;
  const std::size_t from = at + attribute.size();
  return parse_words(line.substr(from, line.find('"', from) - from)).value_or(kNone);
}

Event with_trace(const Event& event, const MergeTrace& trace) {
  Event copy = event;
  if (trace.id.empty()) return copy;
  std::visit(
      [&](auto& element) {
        if constexpr (requires { element.traceIdRef; }) element.traceIdRef = trace.id;
      },
      copy);
  return copy;
}

}  // namespace

bool MergeCallers::note_remote(const InvocationContext* context, std::uint64_t offset) {
  if (context == nullptr || !context->agentIdRef.present() || !context->threadIdRef.present()) return false;
  const Key key(context->agentIdRef.view(), context->threadIdRef.value(), context->ticket.value_or(0));
  states_.emplace(key, kUnknown);
  remotes_.emplace(offset, key);
  return true;
}

bool MergeCallers::note_caller(const Key& key, std::uint64_t offset) {
  const auto found = states_.find(key);
  if (found == states_.end() || found->second != kUnknown) return false;
  found->second = kAhead;
  callers_.emplace(offset, key);
  return true;
}

Result<> MergeStreams::begin_input(const std::string& name, const EventSource& source) {
  if (!spool_) {
    JTRACE_ASSIGN_OR_RETURN(spool_, Spool::create(options_.spool_folder));
  }
  inputs_.push_back({name, spool_->size()});
  source_ = &source;
  current_trace_.clear();
  return {};
}

Result<> MergeStreams::take(const Event& event) {
  JTRACE_ASSIGN_OR_RETURN(const bool is_head, head_.take(event, inputs_.back().name));
  if (is_head) return {};
  const Common common = common_of(event);
  const auto* start = std::get_if<TraceStart>(&event);
  if (start != nullptr) current_trace_ = start->traceId.view();
  MergeTrace& trace = trace_of(common.trace_id.present() ? common.trace_id.view() : std::string_view(current_trace_));
  if (start != nullptr) trace.agent = start->agentIdRef.view();
  if (const auto* option = std::get_if<Option>(&event)) note_option(trace, *option);
  MergeItem item;
  item.is_end = std::holds_alternative<TraceEnd>(event);
  note_order(trace, common, item);
  if (const auto* entry = std::get_if<MethodEntry>(&event))
    item.is_remote = callers_.note_remote(entry->invocationContext, spool_->size());
  const Event own = with_trace(event, trace);
  JTRACE_ASSIGN_OR_RETURN(const Spool::Place place, spool_->write(own));
  item.offset = place.offset;
  item.size = place.size & 0xfffffffu;
  item.line = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(source_->position().line, std::numeric_limits<std::uint32_t>::max()));
  if (options_.renumber) note_ids(trace, own);
  trace.items.push_back(item);
  return {};
}

MergeTrace& MergeStreams::trace_of(std::string_view id) {
  if (last_ != nullptr && last_->id == id) return *last_;
  const auto [at, fresh] = by_id_.try_emplace(std::string(id), traces_.size());
  if (fresh) {
    traces_.push_back(std::make_unique<MergeTrace>());
    traces_.back()->id = id;
  }
  last_ = traces_[at->second].get();
  return *last_;
}

const MergeTrace* MergeStreams::find(std::string_view id) const {
  const auto found = by_id_.find(std::string(id));
  return found == by_id_.end() ? nullptr : traces_[found->second].get();
}

void MergeStreams::note_option(const MergeTrace& trace, const Option& option) {
  if (option.key.view() == kVmKey) vms_.emplace(trace.id, option.value.view());
  if (option.key.view() == kClockKey) clocks_.emplace(trace.id, clock_in(option.value.view()));
}

void MergeStreams::note_order(MergeTrace& trace, const Common& common, MergeItem& item) const {
  if (trace.input != inputs_.size()) {
    trace.input = inputs_.size();
    trace.last_key = trace.last_time = 0;
  }
  item.time = common.time.value_or(0);
  trace.last_time = std::max(trace.last_time, item.time);
  item.collates = common.collation.present();
  trace.collates = trace.collates || item.collates;
  if (item.collates) trace.last_key = common.collation.value();
  // Until it is known whether the trace has collationValues, the time is used instead.
  item.key = trace.collates ? trace.last_key : trace.last_time;
}

void MergeStreams::note_ids(MergeTrace& trace, const Event& event) {
  Event copy = event;
  visitor_.visit(copy, [&](auto& id) {
    std::uint64_t& greatest = trace.ids.of(id);
    greatest = std::max(greatest, id.value());
  });
}

Result<> MergeStreams::finish_reading() {
  JTRACE_RETURN_IF_ERROR(spool_->finish());
  for (const auto& [id, vm] : vms_) head_.note_vm(traces_[by_id_[id]]->agent, vm);
  head_.join();
  for (const auto& trace : traces_)
    if (const auto clock = clocks_.find(trace->id); clock != clocks_.end())
      agent_clocks_.try_emplace(trace->agent, clock->second);
  return {};
}

MergeClock MergeStreams::clock_of(const MergeTrace& trace) const {
  if (const auto own = clocks_.find(trace.id); own != clocks_.end()) return own->second;
  // A series has the clock in its first trace.
  const auto agents = agent_clocks_.find(trace.agent);
  return agents == agent_clocks_.end() ? MergeClock() : agents->second;
}

std::size_t MergeStreams::input_of(const MergeItem& item) const {
  const auto after =
      std::upper_bound(inputs_.begin(), inputs_.end(), item.offset,
                       [](std::uint64_t offset, const InputFile& input) { return offset < input.offset; });
  return static_cast<std::size_t>(after - inputs_.begin()) - 1;
}

Result<std::string_view> MergeStreams::text_of(const MergeItem& item) {
  if (item.offset >= spool_->size()) return std::string_view(extra_[item.offset - spool_->size()]);
  return spool_->read({item.offset, item.size}, input_of(item));
}

std::string MergeStreams::place_of(const MergeItem& item) const {
  return at_position(inputs_[input_of(item)].name, {item.line, 0}, "");
}

MergeItem MergeStreams::add_line(std::uint64_t key, std::string line) {
  extra_.push_back(std::move(line));
  return {.key = key, .offset = spool_->size() + extra_.size() - 1};
}

// Finds the entries and calls that an InvocationContext refers to. Called only if there are any.
Result<> MergeStreams::find_callers() {
  if (callers_.empty()) return {};
  for (const auto& trace : traces_) {
    for (MergeItem& item : trace->items) {
      JTRACE_ASSIGN_OR_RETURN(const std::string_view line, text_of(item));
      if (!line.starts_with("<methodEntry ") && !line.starts_with("<methodCall ")) continue;
      const std::uint64_t ticket = number_in(line, " ticket=\"");
      const MergeCallers::Key key(trace->agent, number_in(line, " threadIdRef=\""), ticket == kNone ? 0 : ticket);
      item.is_caller = callers_.note_caller(key, item.offset);
    }
  }
  return {};
}

}  // namespace jtrace::trace::io
