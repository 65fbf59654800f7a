#include "perfdata/restorer.h"

#include <algorithm>

#include "base/strings.h"
#include "perfdata/region_writer.h"
#include "trace/event.h"
#include "trace/option_keys.h"

namespace jtrace::perfdata {
namespace {

// "[I" -> 'I'; "\200" (a byte that is not a letter) -> that byte.
char type_character(std::string_view type) {
  if (type.starts_with('[')) type.remove_prefix(1);
  if (type.starts_with('\\')) return static_cast<char>(parse_decimal<std::uint8_t>(type.substr(1)).value_or(0));
  return type.empty() ? 'J' : type.front();
}

auto unreadable(std::string_view name, std::string what) {
  return fail(ErrorCategory::kMalformed, "counter " + std::string(name) + ": " + std::move(what));
}

}  // namespace

Restorer::Jvm* Restorer::jvm_of(std::string_view trace_id) {
  const auto trace = traces_.find(trace_id.empty() ? current_ : std::string(trace_id));
  if (trace == traces_.end()) return nullptr;
  const auto jvm = jvms_.find(trace->second.agent);
  if (jvm == jvms_.end()) return nullptr;
  // The requested sample is complete: later elements do not count.
  return options_.sample != 0 && jvm->second.samples >= options_.sample ? nullptr : &jvm->second;
}

Result<> Restorer::take(const trace::Option& option) {
  const auto trace = traces_.find(option.traceIdRef.present() ? std::string(option.traceIdRef.view()) : current_);
  if (trace != traces_.end() && option.key.view() == trace::kSeriesKey && option.value.view() == trace::kPausesSeries)
    trace->second.pauses = true;
  Jvm* jvm = jvm_of(option.traceIdRef.view());
  if (!jvm) return {};
  if (option.key.view() == trace::kCounterFilterKey) jvm->filtered = true;
  if (option.key.view() == trace::kStableKey) jvm->stable = option.value.view() != "false";
  if (option.key.view() != trace::kPrologueKey) return {};
  jvm->prologue = parse_prologue_text(option.value.view());
  if (jvm->prologue) return {};
  return fail(ErrorCategory::kMalformed, "option hsperf.prologue cannot be read: " + std::string(option.value.view()));
}

Result<> Restorer::take(const trace::Value& value) {
  Jvm* jvm = jvm_of(value.traceIdRef.view());
  if (!jvm) return {};
  const std::string name(value.name.view());
  const auto [known, added] = jvm->index.try_emplace(name, jvm->entries.size());
  if (added) jvm->entries.push_back({.name = name});
  Entry& entry = jvm->entries[known->second];
  if (value.type.present()) entry.type = value.type.view();
  // A later sample gives the format only if it is not the plain one.
  entry.format.encoding = ValueEncoding::kPlain;
  if (value.serializationFormat.present()) {
    const auto format = parse_value_format(value.serializationFormat.view());
    if (!format) return unreadable(name, "no such format: " + std::string(value.serializationFormat.view()));
    entry.format = *format;
  } else if (added) {
    return unreadable(name, "its first value has no serializationFormat");
  }
  auto bytes = decode_text(value.value.view(), entry.format.encoding);
  if (!bytes) return unreadable(name, "its value does not have the encoding that it declares");
  entry.bytes = std::move(*bytes);
  return {};
}

Result<> Restorer::write(const trace::Event& event) {
  if (const auto* process = std::get_if<trace::ProcessCreate>(&event)) {
    pids_[std::string(process->processId.view())] = static_cast<std::int64_t>(process->pid.value_or(0));
  } else if (const auto* agent = std::get_if<trace::AgentCreate>(&event)) {
    if (agent->agentName.view() == "hsperf")
      jvms_[std::string(agent->agentId.view())].pid = pids_[std::string(agent->processIdRef.view())];
  } else if (const auto* start = std::get_if<trace::TraceStart>(&event)) {
    current_ = start->traceId.view();
    traces_[current_].agent = start->agentIdRef.view();
    if (Jvm* jvm = jvm_of(current_)) jvm->stable = true;
  } else if (const auto* option = std::get_if<trace::Option>(&event)) {
    return take(*option);
  } else if (const auto* value = std::get_if<trace::Value>(&event)) {
    return take(*value);
  } else if (const auto* end = std::get_if<trace::TraceEnd>(&event)) {
    const std::string id(end->traceIdRef.view());
    Jvm* jvm = jvm_of(id);
    const auto trace = traces_.find(id);
    // A sample in which nothing changed counts too; the trace of pauses does not.
    if (jvm && trace != traces_.end() && !trace->second.pauses) ++jvm->samples;
    if (trace != traces_.end()) traces_.erase(trace);
  }
  return {};
}

Result<const Restorer::Jvm*> Restorer::chosen() const {
  std::vector<const Jvm*> candidates;
  std::string list;
  for (const auto& [agent, jvm] : jvms_) {
    if (jvm.entries.empty() || (options_.pid != 0 && jvm.pid != options_.pid)) continue;
    candidates.push_back(&jvm);
    list.append(list.empty() ? "" : ", ").append(std::to_string(jvm.pid));
  }
  if (candidates.empty())
    return fail(ErrorCategory::kRefused, "there are no counters of hsperf in this trace" +
                                             (options_.pid == 0 ? "" : " for pid " + std::to_string(options_.pid)));
  if (candidates.size() > 1)
    return fail(ErrorCategory::kUsage, "the trace has the counters of several JVMs: " + list, "--pid says which");
  if (options_.sample > candidates.front()->samples)
    return fail(ErrorCategory::kRefused, "there is no sample " + std::to_string(options_.sample) + ": the trace has " +
                                             std::to_string(candidates.front()->samples));
  return candidates.front();
}

std::uint64_t Restorer::samples() const {
  const auto jvm = chosen();
  return jvm ? (*jvm)->samples : 0;
}

bool Restorer::is_stable() const {
  const auto jvm = chosen();
  return !jvm || (*jvm)->stable;
}

std::uint64_t Restorer::missing() const {
  const auto jvm = chosen();
  if (!jvm || (*jvm)->stable || (*jvm)->filtered || !(*jvm)->prologue) return 0;
  const std::uint64_t there = (*jvm)->prologue->prologue.entry_count, here = (*jvm)->entries.size();
  return there > here ? there - here : 0;
}

std::uint64_t Restorer::masked() const {
  const auto jvm = chosen();
  if (!jvm) return 0;
  return static_cast<std::uint64_t>(
      std::count_if((*jvm)->entries.begin(), (*jvm)->entries.end(), [](const Entry& e) { return e.format.masked; }));
}

Result<std::vector<std::byte>> Restorer::region() const {
  JTRACE_ASSIGN_OR_RETURN(const Jvm* jvm, chosen());
  const SavedPrologue saved = jvm->prologue.value_or(SavedPrologue{.prologue = {.major = 2, .accessible = true}});
  RegionWriter writer(saved.prologue.byte_order);
  writer.set_version(saved.prologue.major, saved.prologue.minor).set_accessible(saved.prologue.accessible);
  writer.set_overflow(saved.prologue.overflow).set_modification(saved.prologue.modification_ns);
  for (const Entry& entry : jvm->entries) {
    const ValueFormat& format = entry.format;
    if (entry.type == "J" && format.encoding != ValueEncoding::kHex) {
      const auto number = parse_decimal<std::int64_t>(entry.bytes);
      if (!number) return unreadable(entry.name, "its value is not a number: " + entry.bytes);
      writer.add_long(entry.name, *number, static_cast<Units>(format.units),
                      static_cast<Variability>(format.variability), format.flags);
      continue;
    }
    std::string bytes = entry.bytes;
    // A masked secret may be shorter or longer than the original.
    if (format.length > kMaxRegionSize) return unreadable(entry.name, "it is too long");
    if (format.length != 0 && bytes.size() > format.length) {
      bytes.resize(format.length);
      if (format.masked) bytes.back() = '\0';  // the mask is longer than the secret: still a C string
    }
    if (format.length != 0) bytes.resize(format.length);
    const char type = entry.type == "Ljava/lang/String;" ? 'B' : type_character(entry.type);
    writer.add_raw(entry.name, type, format.length, format.flags, format.units, format.variability,
                   std::as_bytes(std::span(bytes)));
  }
  return writer.bytes(saved.capacity);
}

}  // namespace jtrace::perfdata
