#include "session/document/event_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace jtrace::session {

namespace record = trace::record;
using record::RecordKind;
using trace::ClassId;
using trace::ObjectId;
using trace::ThreadId;

namespace {
constexpr std::uint64_t kPageSize = 4096;
constexpr std::uint64_t kNotWaiting = 0;

bool ends_object(RecordKind kind) { return kind == RecordKind::kObjFree || kind == RecordKind::kClassUnload; }
}  // namespace

Result<> EventBuilder::on_definition(std::span<const std::byte> bytes) {
  auto definition = record::read_definition(bytes);
  if (!definition) {
    ++malformed_;
    return {};
  }
  if (const auto* option = std::get_if<record::OptionDefinition>(&definition->fields))
    return emitter_.emit(trace::Option{.key = option->key, .value = option->value});
  if (auto* text = std::get_if<record::TextDefinition>(&definition->fields)) {
    if (texts_.size() >= kMostTexts) texts_.erase(texts_.begin());
    texts_[definition->id] = std::move(*text);
    return {};
  }
  if (std::holds_alternative<record::ThreadDefinition>(definition->fields)) {
    if ((options_.events & record::kThreadStartEvent) != 0)
      announced_.push_back({definition->time, definition->id, false});
  } else if (const auto* made = std::get_if<record::ClassDefinition>(&definition->fields)) {
    const bool before = (made->flags & record::kClassLoadedBefore) != 0;
    if (before ? options_.all_loaded_classes : (options_.events & record::kClassDefEvent) != 0)
      announced_.push_back({definition->time, definition->id, true});
  }
  definitions_.add(std::move(*definition));
  return {};
}

void EventBuilder::know(std::span<const std::byte> bytes) {
  if (auto definition = record::read_definition(bytes)) definitions_.add(std::move(*definition));
  else ++malformed_;
}

void EventBuilder::on_producer(std::uint32_t producer) { running_ = &producers_[producer]; }

Result<> EventBuilder::on_event(const record::RecordHeader& header) {
  if (header.kind == RecordKind::kThreadSwitch) {
    if (running_ == nullptr) return {};
    const auto& to = reinterpret_cast<const record::ThreadRecord&>(header);
    running_->thread = to.thread;
    running_->is_virtual = (header.flags & record::kIsVirtual) != 0;
    running_->is_carrier = running_->is_carrier || running_->is_virtual;
    if (to.lost_until == 0) return {};
  }
  if (header.kind == RecordKind::kGap && (header.flags & record::kGapBegins) != 0) {
    const auto& gap = reinterpret_cast<const record::GapRecord&>(header);
    if (running_ != nullptr) running_->loses_from = gap.from;
    if (running_ != nullptr) running_->loses_of = gap.thread;
    return {};
  }
  if (running_ != nullptr) running_->loses_from = 0;
  if (first_time_ == 0) first_time_ = header.time;
  last_time_ = std::max(last_time_, header.time);
  const bool is_free = ends_object(header.kind);
  if (header.time <= written_until_ && !is_free) return {};
  Record copy;
  std::memcpy(&copy.bytes, &header,
              std::min<std::size_t>(sizeof copy.bytes, std::size_t{header.slots} * record::kSlotSize));
  copy.thread = running_ != nullptr ? running_->thread : 0;
  copy.is_virtual = running_ != nullptr && running_->is_virtual;
  if (!holding_ && input_.empty()) return process(copy);
  input_.push_back(copy);
  return pump();
}

Result<> EventBuilder::pump() {
  while (!input_.empty()) {
    const Record record = input_.front();
    input_.pop_front();
    JTRACE_RETURN_IF_ERROR(holding_ ? hold(record) : process(record));
  }
  return {};
}

Result<> EventBuilder::announce_until(std::uint64_t time) {
  for (; !standstills_.empty() && standstills_.front().time <= time; standstills_.pop_front()) {
    const Standstill due = standstills_.front();
    JTRACE_RETURN_IF_ERROR(announce_definitions_until(due.time));
    JTRACE_RETURN_IF_ERROR(take_standstill(due.time, due.still));
  }
  return announce_definitions_until(time);
}

Result<> EventBuilder::take_standstill(std::uint64_t time, bool still) {
  if (still) still_until_ = time;
  if (still == stands_still_) return {};
  stands_still_ = still;
  if (still) return emitter_.emit(trace::ProcessSuspend{.time = wall(time)});
  return emitter_.emit(trace::ProcessResume{.time = wall(still_until_)});
}

Result<> EventBuilder::announce_definitions_until(std::uint64_t time) {
  for (; !announced_.empty() && announced_.front().time <= time; announced_.pop_front()) {
    const Announced due = announced_.front();
    JTRACE_RETURN_IF_ERROR(due.is_class ? definitions_.need_class(due.id, due.time)
                                        : definitions_.announce_thread(due.id, due.time));
  }
  return {};
}

Result<> EventBuilder::on_time(std::uint64_t time) {
  if (holding_ && may_release(time)) {
    JTRACE_RETURN_IF_ERROR(release());
    JTRACE_RETURN_IF_ERROR(pump());
  }
  // What is held back has earlier times: its definitions come with it.
  return holding_ ? Result<>() : announce_until(time);
}

Result<> EventBuilder::finish() {
  while (holding_) {
    JTRACE_RETURN_IF_ERROR(release());
    JTRACE_RETURN_IF_ERROR(pump());
  }
  JTRACE_RETURN_IF_ERROR(announce_until(UINT64_MAX));
  JTRACE_RETURN_IF_ERROR(say_open_gaps());
  forget_calls();
  JTRACE_RETURN_IF_ERROR(write_due_ends(last_time_));
  for (; !late_frees_.empty(); late_frees_.pop_front())
    JTRACE_RETURN_IF_ERROR(write_end_of_object(late_frees_.front().as<record::ObjectRecord>()));
  return {};
}

void EventBuilder::go_on_after(const PartialDocument& document, std::uint64_t time) {
  written_until_ = time;
  definitions_.mark_written(document);
}

Result<> EventBuilder::restart(std::uint64_t time) {
  definitions_.restart();
  if ((options_.events & record::kThreadStartEvent) == 0) return {};
  return definitions_.write_live_threads(time);
}

// A record that comes while a gcFinish is held back.
Result<> EventBuilder::hold(const Record& record) {
  const record::RecordHeader& header = record.header();
  const bool is_free = ends_object(header.kind);
  if (header.kind == RecordKind::kGcFigures) {
    if (held_.figures_follow && header.number >= held_.record.header.number) {
      held_.figures_follow = false;
      if (header.number == held_.record.header.number) {
        held_.record.used = record.as<record::GcFinishRecord>().used;
        held_.record.total = record.as<record::GcFinishRecord>().total;
        held_.record.header.flags |= record::kHasFigures;
      } else {
        behind_.push_back(record);  // of a later one: its own gcFinish is behind this one
      }
    }
  } else if (options_.nested_frees && is_free) {
    held_.last_free = header.time;
    JTRACE_RETURN_IF_ERROR(write_end_of_object(record.as<record::ObjectRecord>()));
  } else {
    behind_.push_back(record);
  }
  const bool next_pair = header.kind == RecordKind::kGcStart && options_.nested_frees && !held_.figures_follow;
  if (next_pair || may_release(header.time)) return release();
  return {};
}

bool EventBuilder::may_release(std::uint64_t time) const {
  if (behind_.size() >= kHoldLimit) return true;
  const std::uint64_t finish = held_.record.header.time;
  if (held_.figures_follow && time < finish + kFiguresWait) return false;
  if (!options_.nested_frees) return true;
  return time >= std::max(finish, held_.last_free) + kFreesWait || time >= finish + kFreesLimit;
}

// Writes the held gcFinish; what came behind it is next to be processed.
Result<> EventBuilder::release() {
  holding_ = false;
  input_.insert(input_.begin(), behind_.begin(), behind_.end());
  behind_.clear();
  return write_gc_finish(held_.record);
}

Result<> EventBuilder::process(const Record& any) {
  if (before_event_) JTRACE_RETURN_IF_ERROR(before_event_(any.header().time));
  JTRACE_RETURN_IF_ERROR(announce_until(any.header().time));
  if (stands_still_ && any.header().time > still_until_) JTRACE_RETURN_IF_ERROR(take_standstill(still_until_, false));
  if (sequences_.has_due()) JTRACE_RETURN_IF_ERROR(write_due_ends(any.header().time));
  if (record::is_in(record::kProbeKinds, any.header().kind) && definitions_.is_of_earlier_trace(any.header().number)) {
    ++orphan_exits_;
    return {};
  }
  if (any.is_virtual && record::is_in(record::kProbeKinds, any.header().kind))
    calls_.of(any.thread).last_time = any.header().time;
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
  JTRACE_RETURN_IF_ERROR(say_open_calls(record));
  definitions_.forget_thread(record.thread);
  ended_threads_.insert(record.thread);
  calls_.of(record.thread).forget([this](const OpenCall& call) { abandon(call); });
  calls_.end(record.thread);
  waits_.erase(record.thread);
  contending_.erase(record.thread);
  return emitter_.emit(trace::ThreadEnd{.threadIdRef = ThreadId(record.thread), .time = wall(record.header.time)});
}

Result<> EventBuilder::write_gc_start(const record::ThreadRecord& record) {
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, record.header.time));
  JTRACE_RETURN_IF_ERROR(
      emitter_.emit(trace::GcStart{.threadIdRef = ThreadId(record.thread), .time = wall(record.header.time)}));
  for (; !late_frees_.empty(); late_frees_.pop_front())
    JTRACE_RETURN_IF_ERROR(write_end_of_object(late_frees_.front().as<record::ObjectRecord>()));
  return {};
}

Result<> EventBuilder::start_gc_finish(const record::GcFinishRecord& record) {
  const bool figures_follow = (record.header.flags & record::kFiguresFollow) != 0;
  if (!figures_follow && !options_.nested_frees) return write_gc_finish(record);
  holding_ = true;
  held_ = {record, figures_follow, 0};
  return {};
}

Result<> EventBuilder::write_gc_finish(const record::GcFinishRecord& record) {
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, record.header.time));
  const bool known = (record.header.flags & record::kHasFigures) != 0;
  // G1 adds 8 bytes to every capacity it counts, so that none is 0 (g1MonitoringSupport.hpp, pad_capacity); a heap has
  // whole pages.
  const std::uint64_t total = record.total / kPageSize * kPageSize;
  return emitter_.emit(trace::GcFinish{.threadIdRef = ThreadId(record.thread),
                                       .time = wall(record.header.time),
                                       .totalObjectSpace = known ? trace::Number(total) : trace::Number(),
                                       .usedObjectSpace = known ? trace::Number(record.used) : trace::Number()});
}

// Where the JVM waits until another thread has initialised or loaded a class, it tells of the end alone
// (ObjectMonitor::wait with interruptible == false, objectMonitor.cpp, JDK 8 to 27).
bool EventBuilder::ends_unseen_wait(const record::MonitorRecord& record) const {
  const bool by_jvm = (record.header.flags & (record::kSleep | record::kPark)) == 0;
  if (!by_jvm || record.header.kind != RecordKind::kMonWaited) return false;
  if ((options_.events & record::kMonWaitEvent) == 0) return false;
  const auto wait = waits_.find(record.thread);
  return wait != waits_.end() && wait->second == kNotWaiting;
}

// Whether the document has the beginning of what the record ends.
bool EventBuilder::begun(const record::MonitorRecord& record) const {
  if (record.header.kind == RecordKind::kMonContendedEntered) return contending_.count(record.thread) != 0;
  const auto wait = waits_.find(record.thread);
  return wait != waits_.end() && wait->second != kNotWaiting;
}

void EventBuilder::forget_ended_waits() {
  std::erase_if(waits_, [](const auto& wait) { return wait.second == kNotWaiting; });
}

void EventBuilder::forget_waits() {
  waits_.clear();
  contending_.clear();
}

Result<> EventBuilder::write_monitor(const record::MonitorRecord& record) {
  if (ends_unseen_wait(record)) return {};
  if ((record.header.flags & record::kWhilePaused) != 0 && !begun(record)) return {};
  const std::uint64_t time = record.header.time;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(record.object, time));
  const ThreadId thread(record.thread);
  const ObjectId object = (record.header.flags & record::kSleep) != 0 ? ObjectId::sleep() : ObjectId(record.object);
  switch (record.header.kind) {
    case RecordKind::kMonWait: {
      waits_[record.thread] = time;
      trace::MonWait wait{thread, wall(time), object, record.argument};
      if ((record.header.flags & record::kPark) != 0) {
        JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.owner, time));
        wait.threadOwner = ThreadId(record.owner);
      }
      return emitter_.emit(wait);
    }
    case RecordKind::kMonWaited: {
      trace::Number waited;  // unknown where the wait began before the trace
      if (const auto wait = waits_.find(record.thread); wait != waits_.end() && wait->second != kNotWaiting)
        waited = (time - wait->second) / 1'000'000;
      waits_[record.thread] = kNotWaiting;
      return emitter_.emit(trace::MonWaited{thread, wall(time), object, waited});
    }
    case RecordKind::kMonContendedEnter: {
      contending_.insert(record.thread);
      if ((record.header.flags & record::kHasOwner) == 0)
        return emitter_.emit(trace::MonContendedEnter{thread, wall(time), object});
      JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.argument, time));
      return emitter_.emit(trace::MonContendedEnter{thread, wall(time), object, ThreadId(record.argument)});
    }
    default:
      contending_.erase(record.thread);
      return emitter_.emit(trace::MonContendedEntered{thread, wall(time), object});
  }
}

Result<> EventBuilder::write_alloc(const record::ObjAllocRecord& record) {
  const std::uint64_t time = record.header.time;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_class(record.class_id, time));
  trace::Text context;
  if (record.stack != 0) {
    JTRACE_ASSIGN_OR_RETURN(const std::string_view text, definitions_.context(record.stack, time));
    context = text;
  } else if (record.site != 0) {
    JTRACE_ASSIGN_OR_RETURN(const std::string_view text, definitions_.context_of_site(record.site, time));
    context = text;
  }
  const auto is_array = static_cast<std::uint8_t>(record.header.flags);
  definitions_.allocated(record.object, {record.class_id, record.size, is_array},
                         (options_.events & record::kObjFreeEvent) != 0);
  return emitter_.emit(trace::ObjAlloc{.threadIdRef = ThreadId(record.thread),
                                       .time = wall(time),
                                       .isArray = record.header.flags,
                                       .transientObjId = ObjectId(record.object),
                                       .objId = ObjectId(record.object),
                                       .size = record.size,
                                       .classIdRef = record.class_id != 0 ? ClassId(record.class_id) : ClassId(),
                                       .contextData = context});
}

// Of a static method none; of others what is not known yet.
EventBuilder::Receiver EventBuilder::receiver_of(std::uint64_t method) const {
  if (!options_.receivers || !definitions_.is_static(method)) return {};
  return {ObjectId::none(), trace::Number(0)};
}

// Absent where it is not known: of virtual threads the kernel knows nothing.
trace::Number EventBuilder::cpu_time_of(const Record& record) const {
  if (!options_.cpu_time || record.header().slots < record::slots_of<record::CpuTimeRecord>()) return {};
  const std::uint64_t cpu_time = record.as<record::CpuTimeRecord>().cpu_time;
  return cpu_time != 0 ? trace::Number(cpu_time) : trace::Number();
}

Result<> EventBuilder::write_entry(const Record& record, std::uint64_t time, std::uint64_t object) {
  const std::uint32_t method = record.header().number;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(method, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(object, time));
  CallStack& stack = calls_.of(record.thread);
  const OpenCall& call = stack.enter(method, object);
  Receiver receiver = receiver_of(method);
  if (object != 0) receiver = {ObjectId(object), sequences_.enter(object)};
  trace::List<trace::Value> values;
  if (!stack.values.empty())
    values = value_elements_.make(stack.values, method, definitions_.signature_of(method), false);
  stack.values.clear();
  return emitter_.emit(trace::MethodEntry{.threadIdRef = ThreadId(record.thread),
                                          .time = wall(time),
                                          .methodIdRef = trace::MethodId(method),
                                          .ticket = call.ticket,
                                          .objIdRef = receiver.object,
                                          .classIdRef = class_ref(method),
                                          .threadCpuTime = cpu_time_of(record),
                                          .sequenceCounter = receiver.sequence,
                                          .stackDepth = stack.frames(),
                                          .values = values});
}

// Values come before the entry or the exit that they belong to.
Result<> EventBuilder::take_value(const Record& any) {
  const auto& record = any.as<record::ValueRecord>();
  CallValue made{record.header.number, record.header.flags, record.kind, record.bits, {}, 0};
  if (made.kind == record::ValueKind::kText) {
    const auto text = texts_.find(record.bits);
    if (text == texts_.end()) {
      made.kind = record::ValueKind::kUnknown;
    } else {
      made.text = std::move(text->second.text);
      made.text_length = text->second.length;
      texts_.erase(text);
    }
  }
  if (made.kind == record::ValueKind::kObject)
    JTRACE_RETURN_IF_ERROR(definitions_.need_object(record.bits, record.header.time));
  CallStack& stack = calls_.of(any.thread);
  if (stack.values.size() < kMostValues) stack.values.push_back(std::move(made));
  return {};
}

// The receiver of a constructor comes after its entry, which is counted then.
Result<> EventBuilder::take_receiver(const Record& any) {
  const std::uint64_t object = any.as<record::ReceiverRecord>().object;
  CallStack& stack = calls_.of(any.thread);
  const std::size_t at = stack.find(any.header().number);
  if (object == 0 || at == stack.size() || stack.at(at).object != 0) return {};
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(object, any.header().time));
  stack.at(at).object = object;
  sequences_.enter(object);
  return {};
}

// What is above the one that ends has ended without a word: constructors by an exception before super() returned, calls
// by one that went through.
Result<> EventBuilder::write_end(const Record& record) {
  const record::RecordHeader& header = record.header();
  CallStack& stack = calls_.of(record.thread);
  const std::size_t at =
      stack.find(header.number, header.kind == RecordKind::kReturn ? CallSide::kCaller : CallSide::kCallee);
  const std::vector<CallValue> given = std::exchange(stack.values, {});
  const EndFigures now{header.time, cpu_time_of(record)};
  if (at == stack.size()) {
    if (!record::is_in(record::kFrameKinds, header.kind)) ++orphan_exits_;
    return end_calls_of(stack, header.number, now);
  }
  JTRACE_RETURN_IF_ERROR(end_down_to(stack, at + 1, now));
  trace::List<trace::Value> values;
  if (!given.empty() && header.kind == RecordKind::kMethodExit)
    values = value_elements_.make(given, header.number, definitions_.signature_of(header.number), true);
  return write_end_of(stack, now, values);
}

Result<> EventBuilder::end_down_to(CallStack& stack, std::size_t size, const EndFigures& now) {
  while (stack.size() > size) JTRACE_RETURN_IF_ERROR(write_end_of(stack, now, {}));
  return {};
}

// With calls: control is in a frame of the method, and in none that it has called. Where the frame is not known, it
// began before all that is.
Result<> EventBuilder::end_calls_of(CallStack& stack, std::uint32_t method, const EndFigures& now) {
  if ((options_.events & record::kCallEvent) == 0) return {};
  const std::size_t at = stack.find(method);
  return end_down_to(stack, at == stack.size() ? 0 : at + 1, now);
}

// The thread is in no constructor above the innermost one of `inside` (0: in none at all).
Result<> EventBuilder::end_constructors(CallStack& stack, std::uint32_t inside, const EndFigures& now) {
  for (;;) {
    const std::size_t top = stack.innermost_frame();
    if (top == stack.size() || stack.at(top).number == inside || !definitions_.is_constructor(stack.at(top).method))
      return {};
    JTRACE_RETURN_IF_ERROR(end_down_to(stack, top, now));
  }
}

Result<> EventBuilder::write_end_of(CallStack& stack, const EndFigures& at, trace::List<trace::Value> values) {
  const OpenCall call = stack.pop();
  if (call.ticket == 0) return {};
  const std::uint64_t time = at.time;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(stack.thread(), time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(call.method, time));
  if (call.side == CallSide::kCaller)
    return emitter_.emit(trace::MethodReturn{.threadIdRef = ThreadId(stack.thread()),
                                             .time = wall(time),
                                             .methodIdRef = trace::MethodId(call.method),
                                             .ticket = call.ticket,
                                             .objIdRef = no_receiver_of(call.method),
                                             .classIdRef = class_ref(call.method),
                                             .threadCpuTime = at.cpu_time});
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(call.object, time));
  Receiver receiver = receiver_of(call.method);
  if (call.object != 0) receiver = {ObjectId(call.object), sequences_.leave(call.object)};
  return emitter_.emit(trace::MethodExit{.threadIdRef = ThreadId(stack.thread()),
                                         .time = wall(time),
                                         .ticket = call.ticket,
                                         .threadCpuTime = at.cpu_time,
                                         .methodIdRef = trace::MethodId(call.method),
                                         .objIdRef = receiver.object,
                                         .classIdRef = class_ref(call.method),
                                         .sequenceCounter = receiver.sequence,
                                         .values = values});
}

// A call as its caller sees it: of the method that the instruction names, which another may override.
Result<> EventBuilder::write_call(const Record& record) {
  const std::uint64_t time = record.header().time;
  const std::uint64_t method = definitions_.stands_for(record.header().number);
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(method, time));
  CallStack& stack = calls_.of(record.thread);
  const OpenCall& call = stack.call(record.header().number, method);
  return emitter_.emit(trace::MethodCall{.threadIdRef = ThreadId(record.thread),
                                         .time = wall(time),
                                         .methodIdRef = trace::MethodId(method),
                                         .ticket = call.ticket,
                                         .objIdRef = no_receiver_of(method),
                                         .classIdRef = class_ref(method),
                                         .threadCpuTime = cpu_time_of(record),
                                         .stackDepth = stack.frames()});
}

trace::ClassId EventBuilder::class_ref(std::uint64_t method) const {
  const std::uint64_t id = definitions_.class_of(method);
  return id != 0 ? ClassId(id) : ClassId();
}

// That of a caller's view: of static methods none, of others it is not looked at.
ObjectId EventBuilder::no_receiver_of(std::uint64_t method) const {
  return definitions_.is_static(method) ? ObjectId::none() : ObjectId();
}

// The ticket of the innermost call of the method; none where entries are not traced.
trace::WordList EventBuilder::ticket_of(CallStack& stack, std::uint32_t method) {
  const std::size_t at = stack.find(method);
  const std::uint64_t ticket = at < stack.size() ? stack.at(at).ticket : 0;
  return ticket != 0 ? trace::WordList(ticket) : trace::WordList();
}

Result<> EventBuilder::write_line(const Record& record) {
  const std::uint64_t time = record.header().time;
  const std::uint32_t method = record.header().number;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(method, time));
  return emitter_.emit(trace::Line{.threadId = ThreadId(record.thread),
                                   .time = wall(time),
                                   .line_number = record.header().flags,
                                   .file_name = definitions_.source_of(method),
                                   .methodIdRef = trace::MethodId(method),
                                   .ticket = ticket_of(calls_.of(record.thread), method),
                                   .threadCpuTime = cpu_time_of(record)});
}

// One throw for each frame that an exception is thrown in or passes, the frame that catches it included.
Result<> EventBuilder::write_exception(const Record& any) {
  const auto& record = any.as<record::ExceptionRecord>();
  const std::uint32_t method = record.header.number;
  const bool is_catch = record.header.kind == RecordKind::kCatch;
  const std::uint64_t time = record.header.time;
  CallStack& stack = calls_.of(any.thread);
  const CallStack::Thrown here{method, record.handle};
  const bool said = stack.thrown == here;
  const bool leaves = (record.header.flags & record::kLeavesFrame) != 0;
  if (is_catch || leaves) JTRACE_RETURN_IF_ERROR(end_calls_of(stack, method, {time, {}}));
  stack.thrown = is_catch || leaves ? CallStack::Thrown() : here;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(any.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(method, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(record.object, time));
  const ObjectId object = record.object != 0 ? ObjectId(record.object) : ObjectId::unavailable();
  const trace::WordList ticket = ticket_of(stack, method);
  const bool wants_throw = (options_.events & record::kThrowEvent) != 0;
  if (wants_throw && (!said || (!is_catch && !leaves)))
    JTRACE_RETURN_IF_ERROR(emitter_.emit(trace::Throw{.threadId = ThreadId(any.thread),
                                                      .time = wall(time),
                                                      .objIdRef = object,
                                                      .objHandle = record.handle,
                                                      .methodIdRef = trace::MethodId(method),
                                                      .ticket = ticket}));
  if (!is_catch) return {};
  return emitter_.emit(trace::Catch{.threadIdRef = ThreadId(any.thread),
                                    .time = wall(time),
                                    .objIdRef = object,
                                    .objHandle = record.handle,
                                    .methodIdRef = trace::MethodId(method),
                                    .ticket = ticket});
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

Result<> EventBuilder::end_object(const Record& any) {
  if (!options_.nested_frees || late_frees_.size() >= kHoldLimit)
    return write_end_of_object(any.as<record::ObjectRecord>());
  late_frees_.push_back(any);
  return {};
}

// objFree and classUnload, of what the document has defined: others mean nothing in it. Methods of a class that is gone
// still have their counts: then its definition stays.
Result<> EventBuilder::write_end_of_object(const record::ObjectRecord& record) {
  const bool is_class = record.header.kind == RecordKind::kClassUnload;
  if (!is_class && options_.receivers && sequences_.holds_end(record.id)) return {};
  const bool known = is_class ? definitions_.has_class(record.id) : definitions_.has_object(record.id);
  const bool counts = (options_.events & record::kMethodCountEvent) != 0;
  if (is_class && !counts) definitions_.forget_class(record.id);
  if (!is_class) definitions_.forget_object(record.id);
  const trace::Number sequence =
      !is_class && options_.receivers ? trace::Number(sequences_.end(record.id)) : trace::Number();
  if (!known) return {};
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, record.header.time));
  const ThreadId thread = record.thread != 0 ? ThreadId(record.thread) : ThreadId();
  const trace::Time time = wall(record.header.time);
  if (is_class)
    return emitter_.emit(trace::ClassUnload{.threadIdRef = thread, .time = time, .classIdRef = ClassId(record.id)});
  return emitter_.emit(trace::ObjFree{
      .threadIdRef = thread, .time = time, .objIdRef = ObjectId(record.id), .sequenceCounter = sequence});
}

// Ends of objects that were held while calls on them were open.
Result<> EventBuilder::write_due_ends(std::uint64_t time) {
  for (const std::uint64_t object : sequences_.take_due()) {
    record::ObjectRecord end{.id = object};
    end.header = {RecordKind::kObjFree, record::slots_of<record::ObjectRecord>(), 0, 0, time};
    JTRACE_RETURN_IF_ERROR(write_end_of_object(end));
  }
  return {};
}

}  // namespace jtrace::session
