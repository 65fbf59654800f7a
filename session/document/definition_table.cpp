#include "session/document/definition_table.h"

#include <algorithm>

#include "base/strings.h"
#include "trace/option_keys.h"
#include "trace/record/event_record.h"

namespace jtrace::session {
namespace {

using trace::ClassId;
using trace::MethodId;
using trace::ObjectId;
using trace::ThreadId;

// The definitions come from another process: the bound keeps it from filling jtrace's memory (some GiB).
constexpr std::size_t kMostDefinitions = 16u << 20;

// "Ljava/lang/String;" becomes java/lang/String; array classes keep their descriptor, as in class files.
std::string internal_name(std::string signature) {
  if (signature.size() < 2 || signature.front() != 'L' || signature.back() != ';') return signature;
  return signature.substr(1, signature.size() - 2);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ',';
    text += word;
  }
  return text;
}

trace::Number line_number(std::int32_t line) {
  return line < 0 ? trace::Number() : trace::Number(static_cast<std::uint64_t>(line));
}

// What a thread that ran before the trace was doing (docs/trace_format.md, jtrace.threadState); "": not known.
std::string_view state_word(std::uint8_t flags) {
  constexpr std::string_view kWords[] = {"",        "runnable", "native", "blocked",
                                         "waiting", "sleeping", "parked", "suspended"};
  const std::size_t state = trace::record::thread_was(flags);
  return state < std::size(kWords) ? kWords[state] : "";
}

}  // namespace

void DefinitionTable::add(trace::record::Definition definition) {
  namespace record = trace::record;
  const std::uint64_t id = definition.id;
  const std::size_t known =
      threads_.size() + classes_.size() + methods_.size() + stand_for_.size() + objects_.size() + stacks_.size();
  if (known >= kMostDefinitions) return;  // events that refer to it have only the id
  if (auto* thread = std::get_if<record::ThreadDefinition>(&definition.fields)) {
    threads_.try_emplace(id, Thread{definition.time, std::move(*thread)});
  } else if (auto* made = std::get_if<record::ClassDefinition>(&definition.fields)) {
    std::string name = internal_name(made->signature);
    classes_.try_emplace(id, Class{definition.time, std::move(*made), std::move(name)});
  } else if (auto* method = std::get_if<record::MethodDefinition>(&definition.fields)) {
    const std::uint64_t class_id = method->class_id;
    if (methods_.insert_or_assign(id, std::move(*method)).second)  // a later definition has more facts
      methods_of_[class_id].push_back(id);
    least_method_ = least_method_ == 0 ? id : std::min(least_method_, id);
  } else if (const auto* callee = std::get_if<record::StandsForDefinition>(&definition.fields)) {
    stand_for_.insert_or_assign(id, callee->method);
  } else if (auto* object = std::get_if<record::ObjectDefinition>(&definition.fields)) {
    objects_.try_emplace(id, *object);
  } else if (auto* stack = std::get_if<record::StackDefinition>(&definition.fields)) {
    stacks_.try_emplace(id, Stack{std::move(*stack), {}});
  }
}

Result<> DefinitionTable::announce_thread(std::uint64_t id, std::uint64_t time) {
  if (id == 0 || !written_threads_.insert(id)) return {};
  JTRACE_RETURN_IF_ERROR(write_thread_start(id, time));
  const auto found = threads_.find(id);
  if (found == threads_.end()) return {};
  const std::string_view state =
      thread_states_last_ && !acted_threads_.contains(id) ? state_word(found->second.fields.flags) : "";
  if (state.empty()) return write_thread_met(id);
  const std::string value = std::to_string(id) + " " + std::string(state);
  return emitter_.emit(trace::Option{.key = trace::kThreadStateKey, .value = value});
}

Result<> DefinitionTable::write_thread(std::uint64_t id, std::uint64_t time) {
  JTRACE_RETURN_IF_ERROR(write_thread_start(id, time));
  return write_thread_met(id);
}

// A threadStart that is not the begin of the thread.
Result<> DefinitionTable::write_thread_met(std::uint64_t id) {
  namespace record = trace::record;
  const auto found = threads_.find(id);
  if (!has_thread_begins_ || found == threads_.end()) return {};
  const unsigned flags = found->second.fields.flags;
  if ((flags & (unsigned{record::kThreadBegan} | unsigned{record::kThreadVmInternal})) != 0) return {};
  const std::string_view kind = (flags & record::kThreadVirtual) != 0 ? trace::kMetVirtual : trace::kMetPlatform;
  const std::string value = std::to_string(id) + " " + std::string(kind);
  return emitter_.emit(trace::Option{.key = trace::kThreadMetKey, .value = value});
}

Result<> DefinitionTable::write_thread_start(std::uint64_t id, std::uint64_t time) {
  const auto found = threads_.find(id);
  if (found == threads_.end()) {
    ++made_up_;
    return emitter_.emit(trace::ThreadStart{.threadId = ThreadId(id), .time = wall(time), .threadName = ""});
  }
  const auto& [defined, fields] = found->second;
  const auto transient = fields.tid != 0 ? trace::TransientThreadId(fields.tid) : trace::TransientThreadId();
  return emitter_.emit(trace::ThreadStart{.transientThreadId = transient,
                                          .threadId = ThreadId(id),
                                          .time = wall(defined),
                                          .groupName = fields.group,
                                          .parentName = fields.parent,
                                          .objIdRef = ObjectId::none(),
                                          .threadName = fields.name});
}

Result<> DefinitionTable::need_class(std::uint64_t id, std::uint64_t time) {
  if (id == 0 || !written_classes_.insert(id)) return {};
  const auto found = classes_.find(id);
  if (found != classes_.end()) return write_class(id, found->second, time);
  ++made_up_;
  return emitter_.emit(
      trace::ClassDef{.time = wall(time), .transientClassId = ClassId(id), .classId = ClassId(id), .name = ""});
}

Result<> DefinitionTable::write_class(std::uint64_t id, const Class& made, std::uint64_t time) {
  const trace::record::ClassDefinition& fields = made.fields;
  if (is_named_only(id))
    return emitter_.emit(trace::ClassDef{
        .time = wall(made.time), .transientClassId = ClassId(id), .classId = ClassId(id), .name = made.name});
  JTRACE_RETURN_IF_ERROR(need_thread(fields.thread, time));
  const std::string interfaces = joined(fields.interfaces);
  return emitter_.emit(trace::ClassDef{.threadIdRef = fields.thread != 0 ? ThreadId(fields.thread) : ThreadId(),
                                       .time = wall(made.time),
                                       .numInterfaces = fields.interfaces.size(),
                                       .interfaceNames = interfaces,
                                       .transientClassId = ClassId(id),
                                       .classId = ClassId(id),
                                       .sourceName = fields.source,
                                       .classLoader = fields.loader,
                                       .superclass = fields.superclass,
                                       .objIdRef = ObjectId::none(),
                                       .name = made.name,
                                       .access = trace::access_word(fields.access),
                                       .numStaticFields = fields.static_fields,
                                       .numMethods = fields.methods,
                                       .numInstanceFields = fields.instance_fields});
}

Result<> DefinitionTable::need_method(std::uint64_t id, std::uint64_t time) {
  if (id == 0 || !written_methods_.insert(id)) return {};
  const auto found = methods_.find(id);
  if (found == methods_.end()) {
    ++made_up_;
    return emitter_.emit(trace::MethodDef{.name = "", .signature = "", .methodId = MethodId(id)});
  }
  JTRACE_RETURN_IF_ERROR(need_class(found->second.class_id, time));
  return write_method(id, found->second);
}

Result<> DefinitionTable::need_methods_of(std::uint64_t class_id, std::uint64_t time) {
  const auto found = methods_of_.find(class_id);
  if (found == methods_of_.end()) return {};
  for (const std::uint64_t method : found->second) JTRACE_RETURN_IF_ERROR(need_method(method, time));
  return {};
}

Result<> DefinitionTable::write_method(std::uint64_t id, const trace::record::MethodDefinition& method) {
  if (is_named_only(method.class_id))
    return emitter_.emit(trace::MethodDef{.name = method.name,
                                          .signature = method.signature,
                                          .isStatic = (method.access & trace::kStatic) != 0,
                                          .signitureNotation = "JNI",
                                          .classIdRef = ClassId(method.class_id),
                                          .methodId = MethodId(id)});
  const std::string exceptions = method.exceptions ? joined(*method.exceptions) : std::string();
  return emitter_.emit(trace::MethodDef{.name = method.name,
                                        .signature = method.signature,
                                        .visibility = trace::access_word(method.access),
                                        .isNative = (method.access & trace::kNative) != 0,
                                        .isAbstract = (method.access & trace::kAbstract) != 0,
                                        .isStatic = (method.access & trace::kStatic) != 0,
                                        .isSynchronized = (method.access & trace::kSynchronized) != 0,
                                        .exceptions = exceptions,
                                        .startLineNumber = line_number(method.first_line),
                                        .endLineNumber = line_number(method.last_line),
                                        .signitureNotation = "JNI",
                                        .classIdRef = ClassId(method.class_id),
                                        .methodId = MethodId(id)});
}

Result<> DefinitionTable::write_object(std::uint64_t id, std::uint64_t time) {
  const auto found = objects_.find(id);
  if (found == objects_.end()) {
    ++made_up_;
    return emitter_.emit(trace::ObjDef{.objId = ObjectId(id)});
  }
  const trace::record::ObjectDefinition& object = found->second;
  JTRACE_RETURN_IF_ERROR(need_class(object.class_id, time));
  // The class of an argument may be unloaded before its slow call is written.
  const ClassId class_id = has_class(object.class_id) ? ClassId(object.class_id) : ClassId();
  return emitter_.emit(
      trace::ObjDef{.objId = ObjectId(id), .isArray = object.is_array, .size = object.size, .classIdRef = class_id});
}

std::string_view DefinitionTable::class_name_of_object(std::uint64_t id) const {
  const auto object = objects_.find(id);
  const auto found = object == objects_.end() ? classes_.end() : classes_.find(object->second.class_id);
  return found == classes_.end() ? std::string_view() : std::string_view(found->second.name);
}

Result<std::string_view> DefinitionTable::context(std::uint64_t stack, std::uint64_t time) {
  const auto found = stacks_.find(stack);
  if (found == stacks_.end()) return std::string_view();
  auto& [fields, text] = found->second;
  for (const trace::record::StackFrame& frame : fields.frames) JTRACE_RETURN_IF_ERROR(need_method(frame.method, time));
  if (text.empty())
    for (const trace::record::StackFrame& frame : fields.frames) text += (text.empty() ? "" : ";") + frame_text(frame);
  return std::string_view(text);
}

Result<std::string_view> DefinitionTable::context_of_site(std::uint64_t site, std::uint64_t time) {
  const std::uint64_t method = trace::record::method_of_site(site);
  const std::int32_t line = trace::record::line_of_site(site);
  JTRACE_RETURN_IF_ERROR(need_method(method, time));
  if (sites_.size() >= kMostDefinitions) sites_.clear();
  std::string& text = sites_[site];
  if (text.empty()) text = frame_text({method, line != 0 ? line : -1});
  return std::string_view(text);
}

std::string DefinitionTable::frame_text(const trace::record::StackFrame& frame) const {
  const auto method = methods_.find(frame.method);
  if (method == methods_.end()) return "?";
  const auto owner = classes_.find(method->second.class_id);
  std::string text = owner != classes_.end() ? owner->second.name : "?";
  text += '.';
  text += method->second.name;
  if (frame.line == -2) text += ":native";
  if (frame.line < 0) return text;
  text += ':';
  append_decimal(text, frame.line);
  return text;
}

void DefinitionTable::mark_written(const PartialDocument& document) {
  for (const std::uint64_t id : document.threads) written_threads_.insert(id);
  for (const std::uint64_t id : document.classes) written_classes_.insert(id);
  for (const std::uint64_t id : document.methods) written_methods_.insert(id);
  for (const std::uint64_t id : document.objects) written_objects_.insert(id);
  for (const std::uint64_t id : document.freed_objects) ended_objects_.insert(id);
  for (const std::uint64_t id : document.unloaded_classes) ended_classes_.insert(id);
}

void DefinitionTable::restart() {
  written_threads_.clear();
  written_classes_.clear();
  written_methods_.clear();
  written_objects_.clear();
  ended_classes_.clear();
}

Result<> DefinitionTable::write_live_threads(std::uint64_t time) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, thread] : threads_)
    if (thread.time <= time) ids.push_back(id);  // definitions arrive earlier than their events
  std::sort(ids.begin(), ids.end());
  for (const std::uint64_t id : ids) JTRACE_RETURN_IF_ERROR(announce_thread(id, time));
  return {};
}

}  // namespace jtrace::session
