// The views `threads` and `stack`: what each thread does.
#include <algorithm>

#include "base/strings.h"
#include "coreinspect/tools/inspection.h"
#include "coreinspect/tools/lock_facts.h"
#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::coreinspect {
namespace {

struct Shown {
  bool stubs = false;  // stubs, entry frames and the native top as well: `stack`
};

std::string seconds(std::uint64_t nanoseconds) {
  std::string text = std::to_string(nanoseconds / 1'000'000'000) + ".";
  std::string fraction = std::to_string(nanoseconds % 1'000'000'000 / 1'000'000);
  return text + std::string(3 - fraction.size(), '0') + fraction;
}

std::string place_of(const Frame& frame) {
  const JavaMethod& method = *frame.method;
  if (method.is_native()) return "Native Method";
  if (method.source_file.empty()) return "Unknown Source";
  const int line = method.line_of(frame.bci);
  return method.source_file + (line >= 0 ? ":" + std::to_string(line) : "");
}

void append_native(std::string& out, const Frame& frame) {
  out += "    at ";
  if (!frame.name.empty()) out += printable(frame.name) + " (" + printable(frame.module) + ")";
  else if (!frame.module.empty()) out += printable(frame.module) + "+" + hex(frame.module_offset);
  else out += hex(frame.pc);
  out += " native\n";
}

void append_frame(std::string& out, const Frame& frame, Shown shown) {
  if (frame.method) {
    out += "    at " + printable(frame.method->class_name + "." + frame.method->name) + "(" +
           printable(place_of(frame)) + ")";
    if (!frame.method->is_native()) out += " @" + std::to_string(frame.bci);
    out.append(" ").append(to_string(frame.kind)).append("\n");
  } else if (shown.stubs) {
    out.append("    - ").append(printable(frame.name)).append(" ").append(to_string(frame.kind)).append("\n");
  }
}

void append_text(std::string& out, const ThreadReport& report, const LockFacts& locks, Shown shown) {
  const JavaThread& java = report.java;
  if (java.address == 0) {
    out += "\"" + printable(report.name) + "\" nid=" + std::to_string(report.native_id) +
           " cpu=" + seconds(report.cpu_ns) + "s not a Java thread\n";
  } else {
    out += "\"" + printable(java.name) + "\" #" + std::to_string(java.id) + (java.daemon ? " daemon" : "") +
           " prio=" + std::to_string(java.priority) + " nid=" + std::to_string(report.native_id) +
           " cpu=" + seconds(report.cpu_ns) + "s " + std::string(java.state());
    if (!java.state_detail().empty()) out.append(" (").append(java.state_detail()).append(")");
    out.append(" [").append(vm_state_name(java.vm_state)).append("]\n");
  }
  if (shown.stubs && report.top.pc != 0) append_native(out, report.top);
  if (const Wait* wait = locks.wait_of(java.address)) out += "    - " + describe(*wait) + "\n";
  for (const Frame& frame : report.walk.frames) append_frame(out, frame, shown);
  if (!report.walk.stopped.empty()) out += "    - the rest cannot be read: " + report.walk.stopped + "\n";
  if (!java.problem.empty()) out += "    - not all of this thread can be read: " + java.problem + "\n";
  out += "\n";
}

void write_frame(JsonWriter& json, const Frame& frame) {
  json.begin_object().member("kind", to_string(frame.kind));
  if (frame.method) {
    json.member("class", frame.method->class_name).member("method", frame.method->name);
    json.member("signature", frame.method->signature).member("bci", frame.bci);
    if (!frame.method->source_file.empty()) json.member("file", frame.method->source_file);
    if (const int line = frame.method->line_of(frame.bci); line >= 0 && !frame.method->is_native())
      json.member("line", line);
    if (frame.method->is_native()) json.member("nativeMethod", true);
  } else {
    json.member("name", frame.name);
  }
  if (!frame.module.empty()) json.member("module", frame.module).member("offset", hex(frame.module_offset));
  json.end_object();
}

void write_json(JsonWriter& json, const ThreadReport& report, const LockFacts& locks, Shown shown) {
  const JavaThread& java = report.java;
  const bool is_java = java.address != 0;
  json.begin_object().member("name", is_java ? java.name : report.name).member("java", is_java);
  if (is_java) json.member("threadId", java.id);
  json.member("nativeId", report.native_id);
  if (is_java) {
    json.member("daemon", java.daemon).member("priority", java.priority).member("state", java.state());
    json.member("stateDetail", java.state_detail()).member("vmState", vm_state_name(java.vm_state));
  }
  json.member("cpu", static_cast<double>(report.cpu_ns) / 1e9);
  if (const Wait* wait = locks.wait_of(java.address)) {
    json.key("waitingOn").begin_object().member("class", wait->class_name).member("object", hex(wait->object));
    json.member("kind", wait->kind);
    if (!wait->owner.empty()) json.member("owner", wait->owner).member("ownerId", wait->owner_id);
    json.end_object();
  }
  json.key("frames").begin_array();
  if (shown.stubs && report.top.pc != 0) write_frame(json, report.top);
  for (const Frame& frame : report.walk.frames)
    if (frame.method || shown.stubs) write_frame(json, frame);
  json.end_array();
  if (!report.walk.stopped.empty()) json.member("problem", report.walk.stopped);
  json.end_object();
}

Result<ViewResult> show(Inspection& inspection, const ViewOptions& options, Shown shown) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  JTRACE_ASSIGN_OR_RETURN(ThreadSnapshot snapshot, take_thread_snapshot(inspection, options.max_stop));
  const LockFacts locks(inspection, snapshot);
  ViewResult result;
  result.missing = std::move(snapshot.missing);
  JsonWriter json(result.out);
  if (!options.json && inspection.target().process())
    result.out += "The target stood still for " + std::to_string(snapshot.pause.count() / 1000) + " us.\n\n";
  for (const ThreadReport& report : snapshot.threads) {
    if (options.json) write_json(json, report, locks, shown);
    else append_text(result.out, report, locks, shown);
  }
  return result;
}

}  // namespace

Result<ViewResult> view_threads(Inspection& inspection, const ViewOptions& options) {
  return show(inspection, options, {});
}

Result<ViewResult> view_stack(Inspection& inspection, const ViewOptions& options) {
  return show(inspection, options, {.stubs = true});
}

}  // namespace jtrace::coreinspect
