#include "session/document/partial_document.h"

#include <algorithm>

#include "base/clock.h"
#include "base/strings.h"
#include "trace/gap_option.h"
#include "trace/option_keys.h"
#include "trace/schema.h"

namespace jtrace::session {
namespace {

// The value of an attribute, still escaped; "" if there is none.
std::string_view attribute(std::string_view line, std::string_view name) {
  std::string wanted = " " + std::string(name) + "=\"";
  const std::size_t start = line.find(wanted);
  if (start == std::string_view::npos) return {};
  const std::size_t value = start + wanted.size();
  const std::size_t end = line.find('"', value);
  return end == std::string_view::npos ? std::string_view() : line.substr(value, end - value);
}

std::uint64_t number(std::string_view line, std::string_view name) {
  return parse_decimal<std::uint64_t>(attribute(line, name)).value_or(0);
}

// "low" or "low,high".
std::uint64_t word_list(std::string_view text) {
  const std::size_t comma = text.find(',');
  const auto low = parse_decimal<std::uint64_t>(text.substr(0, comma)).value_or(0);
  if (comma == std::string_view::npos) return low;
  return low | parse_decimal<std::uint64_t>(text.substr(comma + 1)).value_or(0) << 32;
}

std::uint64_t time_of(std::string_view line) {
  const std::string_view text = attribute(line, "time");
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() - point != 10) return 0;
  const auto seconds = parse_decimal<std::uint64_t>(text.substr(0, point)).value_or(0);
  return seconds * kNanosPerSecond + parse_decimal<std::uint64_t>(text.substr(point + 1)).value_or(0);
}

class LineReader {
 public:
  explicit LineReader(PartialDocument& document) : document_(document) {}

  void read(std::string_view line) {
    if (!line.starts_with('<')) return;
    const std::string_view name = line.substr(1, line.find_first_of(" />", 1) - 1);
    if (name == "TRACE") document_.has_head = true;
    if (const std::string_view collation = attribute(line, "collationValue"); !collation.empty())
      document_.collation = word_list(collation);
    if (const auto kind = trace::element_of_name(name)) read_element(*kind, line);
  }

 private:
  void read_element(trace::ElementKind kind, std::string_view line) {
    using trace::ElementKind;
    switch (kind) {
      case ElementKind::kNode:
      case ElementKind::kProcessCreate: return;
      case ElementKind::kAgentCreate: document_.agent_id = attribute(line, "agentId"); return;
      case ElementKind::kTraceStart: document_.trace_id = attribute(line, "traceId"); return;
      case ElementKind::kThreadStart: document_.threads.push_back(number(line, "threadId")); return;
      case ElementKind::kClassDef: document_.classes.push_back(number(line, "classId")); return;
      case ElementKind::kMethodDef: document_.methods.push_back(number(line, "methodId")); return;
      case ElementKind::kObjDef: document_.objects.push_back(number(line, "objId")); return;
      // Frees may lie inside a past collection.
      case ElementKind::kObjFree: document_.freed_objects.push_back(number(line, "objIdRef")); return;
      case ElementKind::kClassUnload: document_.unloaded_classes.push_back(number(line, "classIdRef")); return;
      case ElementKind::kObjAlloc: document_.objects.push_back(number(line, "objId")); break;
      case ElementKind::kThreadEnd: end_thread(number(line, "threadIdRef")); break;
      case ElementKind::kMethodEntry: open_call(line, false); break;
      case ElementKind::kMethodCall: open_call(line, true); break;
      case ElementKind::kMethodExit:
      case ElementKind::kMethodReturn: end_call(line); break;
      case ElementKind::kOption: read_option(attribute(line, "key"), attribute(line, "value")); return;
      case ElementKind::kTraceEnd: document_.is_ended = true; break;
      default: break;
    }
    // In the order of time.
    document_.last_event_time = std::max(document_.last_event_time, time_of(line));
  }

  void end_thread(std::uint64_t thread) {
    document_.ended_threads.push_back(thread);
    document_.open_calls.erase(thread);
  }
  void open_call(std::string_view line, bool is_callers) {
    document_.open_calls[number(line, "threadIdRef")].push_back(
        {number(line, "methodIdRef"), word_list(attribute(line, "ticket")), is_callers});
  }
  void end_call(std::string_view line) {
    auto& calls = document_.open_calls[number(line, "threadIdRef")];
    const std::uint64_t ticket = word_list(attribute(line, "ticket"));
    const auto its = std::find_if(calls.begin(), calls.end(), [&](const auto& each) { return each.ticket == ticket; });
    calls.erase(its, calls.end());
  }
  // Where events were lost, or were not written, the open calls are not known any more (trace/io/call_stacks.h).
  void read_option(std::string_view key, std::string_view value) {
    if (key == trace::kPausedKey) document_.open_calls.clear();
    if (key != trace::kGapKey) return;
    const auto gap = trace::read_gap(value);
    if (gap && gap->thread != 0) document_.open_calls.erase(gap->thread);
    else document_.open_calls.clear();
  }

  PartialDocument& document_;
};

}  // namespace

PartialDocument read_partial_document(std::string_view text) {
  PartialDocument document;
  LineReader reader(document);
  while (document.whole_size < text.size()) {
    const std::string_view rest = text.substr(document.whole_size);
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // truncated
    const std::string_view line = rest.substr(0, end);
    if (line.starts_with("</TRACE>") || line.starts_with("<traceEnd") || line.starts_with("<agentDestroy")) {
      document.is_ended = true;
      break;
    }
    reader.read(line);
    document.whole_size += end + 1;
  }
  return document;
}

}  // namespace jtrace::session
