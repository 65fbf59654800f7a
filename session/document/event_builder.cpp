#include "session/document/event_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace jtrace::session {

namespace record = trace::record;
using record::RecordKind;
using trace::ThreadId;

BuilderOptions builder_options(const TraceOptions& options) {
  return {.events = options.events,
          .all_loaded_classes = options.all_loaded_classes,
          .nested_frees = options.nested_frees,
          .receivers = options.receivers,
          .min_contention = options.min_contention,
          .every_call = options.slower_than == 0,
          .cpu_time = options.cpu_time};
}

EventBuilder::EventBuilder(trace::EventEmitter& emitter, const ClockAnchor& anchor, const BuilderOptions& options)
    : emitter_(emitter),
      anchor_(anchor),
      options_(options),
      definitions_(emitter, anchor),
      short_({emitter_, definitions_, anchor_, options_}),
      announcements_({emitter_, definitions_, anchor_, options_}),
      standstills_({emitter_, definitions_, anchor_, options_}),
      objects_({emitter_, definitions_, anchor_, options_}),
      collections_({emitter_, definitions_, anchor_, options_}, objects_),
      waits_({emitter_, definitions_, anchor_, options_}),
      calls_({emitter_, definitions_, anchor_, options_}, objects_.sequences()),
      losses_({emitter_, definitions_, anchor_, options_}, calls_, waits_, producers_) {
  if ((options_.events & record::kThreadStartEvent) != 0) definitions_.expect_thread_begins();
}

Result<> EventBuilder::on_definition(std::span<const std::byte> bytes) {
  auto definition = record::read_definition(bytes);
  if (!definition) {
    ++malformed_;
    return {};
  }
  if (const auto* option = std::get_if<record::OptionDefinition>(&definition->fields))
    return emitter_.emit(trace::Option{.key = option->key, .value = option->value});
  if (auto* text = std::get_if<record::TextDefinition>(&definition->fields)) {
    calls_.take_text(definition->id, std::move(*text));
    return {};
  }
  if (std::holds_alternative<record::ThreadDefinition>(definition->fields)) {
    if ((options_.events & record::kThreadStartEvent) != 0) announcements_.add_thread(definition->id, definition->time);
  } else if (const auto* made = std::get_if<record::ClassDefinition>(&definition->fields)) {
    const bool before = (made->flags & record::kClassLoadedBefore) != 0;
    if (before ? options_.all_loaded_classes : (options_.events & record::kClassDefEvent) != 0)
      announcements_.add_class(definition->id, definition->time);
  }
  definitions_.add(std::move(*definition));
  return {};
}

void EventBuilder::remember(std::span<const std::byte> bytes) {
  if (auto definition = record::read_definition(bytes)) definitions_.add(std::move(*definition));
  else ++malformed_;
}

Result<> EventBuilder::on_event(const record::RecordHeader& header) {
  if (!producers_.take(header)) return {};
  if (first_time_ == 0) first_time_ = header.time;
  last_time_ = std::max(last_time_, header.time);
  if (header.time <= written_until_ && !record::is_in(record::kFreeKinds, header.kind)) return {};
  TimedRecord copy;
  std::memcpy(&copy.bytes, &header,
              std::min<std::size_t>(sizeof copy.bytes, std::size_t{header.slots} * record::kSlotSize));
  copy.thread = producers_.thread();
  copy.is_virtual = producers_.is_virtual();
  if (!short_.holds(copy)) return forward(copy);
  short_.take(copy);
  return forward_held(header.time);
}

Result<> EventBuilder::forward_held(std::uint64_t time) {
  while (const auto next = short_.next(time)) JTRACE_RETURN_IF_ERROR(forward(*next));
  return {};
}

Result<> EventBuilder::forward(const TimedRecord& record) {
  if (!collections_.is_holding() && input_.empty()) return process(record);
  input_.push_back(record);
  return pump();
}

Result<> EventBuilder::pump() {
  while (!input_.empty()) {
    const TimedRecord record = input_.front();
    input_.pop_front();
    if (!collections_.is_holding()) {
      JTRACE_RETURN_IF_ERROR(process(record));
      continue;
    }
    JTRACE_ASSIGN_OR_RETURN(const bool over, collections_.hold(record));
    if (over) JTRACE_RETURN_IF_ERROR(collections_.release(input_));
  }
  return {};
}

Result<> EventBuilder::announce_until(std::uint64_t time) {
  while (const auto seen = standstills_.take_until(time)) {
    JTRACE_RETURN_IF_ERROR(announcements_.write_until(seen->time));
    JTRACE_RETURN_IF_ERROR(standstills_.write(*seen));
  }
  return announcements_.write_until(time);
}

Result<> EventBuilder::on_time(std::uint64_t time) {
  JTRACE_RETURN_IF_ERROR(forward_held(time));
  if (collections_.is_holding() && collections_.may_release(time)) JTRACE_RETURN_IF_ERROR(release());
  // Events that are held back have earlier times, and bring their definitions.
  return collections_.is_holding() || short_.is_holding() ? Result<>() : announce_until(time);
}

Result<> EventBuilder::release() {
  JTRACE_RETURN_IF_ERROR(collections_.release(input_));
  return pump();
}

Result<> EventBuilder::finish() {
  JTRACE_RETURN_IF_ERROR(forward_held(UINT64_MAX));
  while (collections_.is_holding()) JTRACE_RETURN_IF_ERROR(release());
  JTRACE_RETURN_IF_ERROR(announce_until(UINT64_MAX));
  JTRACE_RETURN_IF_ERROR(losses_.write_open_gaps());
  JTRACE_RETURN_IF_ERROR(short_.write_counts());
  calls_.forget_all();
  JTRACE_RETURN_IF_ERROR(objects_.write_due_ends(last_time_));
  return objects_.write_kept_ends();
}

void EventBuilder::go_on_after(const PartialDocument& document, std::uint64_t time) {
  written_until_ = time;
  definitions_.mark_written(document);
  for (const auto& [thread, open] : document.open_calls)
    for (const PartialDocument::Call& call : open)
      calls_.stacks().of(thread).restore(call.method, call.is_callers ? CallSide::kCaller : CallSide::kCallee,
                                         call.ticket);
}

Result<> EventBuilder::restart(std::uint64_t time) {
  definitions_.restart();
  if ((options_.events & record::kThreadStartEvent) == 0) return {};
  return definitions_.write_live_threads(time);
}

Result<> EventBuilder::restart_unknown(std::uint64_t time) {
  JTRACE_RETURN_IF_ERROR(losses_.write_unknown_calls(time));
  return restart(time);
}

Result<> EventBuilder::process(const TimedRecord& record) {
  const record::RecordHeader& header = record.header();
  if (before_event_) JTRACE_RETURN_IF_ERROR(before_event_(header.time));
  JTRACE_RETURN_IF_ERROR(announce_until(header.time));
  JTRACE_RETURN_IF_ERROR(standstills_.end_before(header.time));
  if (objects_.sequences().has_due()) JTRACE_RETURN_IF_ERROR(objects_.write_due_ends(header.time));
  calls_.note(record);
  if (record::is_in(record::kCalloutKinds, header.kind)) {
    if (definitions_.is_of_earlier_trace(header.number)) {
      calls_.add_orphan_exit();
      return {};
    }
    if (record.is_virtual) calls_.stacks().of(record.thread).last_time = header.time;
  }
  return dispatch(record);
}

Result<> EventBuilder::dispatch(const TimedRecord& any) {
  switch (any.header().kind) {
#define RECORD(number, Name, Struct, ...) \
  case RecordKind::k##Name:               \
    return on_##Name(any, any.as<record::Struct>());
#include "trace/record/records.def"
#undef RECORD
  }
  return {};
}

Result<> EventBuilder::write_thread_end(const record::ThreadRecord& record) {
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, record.header.time));
  JTRACE_RETURN_IF_ERROR(losses_.write_open_calls(record));
  definitions_.forget_thread(record.thread);
  ended_threads_.insert(record.thread);
  calls_.end_thread(record.thread);
  waits_.forget_thread(record.thread);
  return emitter_.emit(trace::ThreadEnd{.threadIdRef = ThreadId(record.thread), .time = wall(record.header.time)});
}

Result<> EventBuilder::write_count_of(std::uint64_t method, std::uint64_t calls, std::uint64_t time) {
  if (!definitions_.has_method(method)) return {};
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(method, time));
  return emitter_.emit(trace::MethodCount{.count = calls, .methodIdRef = trace::MethodId(method)});
}

Result<> EventBuilder::write_count(const record::CountRecord& record) {
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(record.header.number, record.header.time));
  return emitter_.emit(trace::MethodCount{.count = record.count, .methodIdRef = trace::MethodId(record.header.number)});
}

}  // namespace jtrace::session
