// The view `safepoint`: is one being reached, for what, since when, and which threads hold it up.
#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "coreinspect/tools/safepoint_report.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

std::string threads(std::size_t count) { return std::to_string(count) + (count == 1 ? " thread" : " threads"); }

std::string verdict(const SafepointReport& report) {
  if (!report.known) return "It cannot be determined whether a safepoint is being reached.";
  if (!report.lasting) return "Short safepoints follow one another; none of them lasts.";
  switch (report.state) {
    case SafepointState::kNone: return "No safepoint is being reached.";
    case SafepointState::kSynchronized: return "A safepoint is reached: Java threads are stopped until it ends.";
    case SafepointState::kSynchronizing: break;
  }
  if (report.late.empty()) return "A safepoint is being reached; no thread was found that holds it up.";
  return "A safepoint is not reached: " + threads(report.late.size()) + (report.late.size() == 1 ? " is" : " are") +
         " late.";
}

std::string found(std::string_view by) { return by.empty() ? "" : " (" + std::string(by) + ")"; }

std::string seconds(double since) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f s", since);
  return text;
}

void append_late(std::string& out, const LateThread& late) {
  out += "late: \"" + printable(late.java.name) + "\" #" + std::to_string(late.java.id) +
         " nid=" + std::to_string(late.java.native_id) + " [" + std::string(vm_state_name(late.java.vm_state)) + "]";
  if (late.kernel) out += std::string(" kernel state ") + late.kernel->state;
  out += ": " + printable(late.why) + "\n";
  if (!late.frame.empty()) out += "    at " + printable(late.frame) + " " + late.code + "\n";
}

void append_handshake(std::string& out, const LateHandshake& handshake) {
  out += "A handshake" + (handshake.name.empty() ? "" : " (" + printable(handshake.name) + ")") +
         (handshake.all ? " of all threads" : "") + " is not run: " + threads(handshake.late.size()) +
         (handshake.late.size() == 1 ? " is" : " are") + " late";
  if (!handshake.requester.empty()) out += ", and \"" + printable(handshake.requester) + "\" waits";
  out += " for at least " + seconds(handshake.since) + ".\n";
  for (const LateThread& each : handshake.late) append_late(out, each);
}

std::string text_of(const SafepointReport& report) {
  std::string out = verdict(report) + "\n";
  if (report.known) out += "state: " + std::string(to_string(report.state)) + found(report.state_found_by) + "\n";
  if (report.operation) {
    out += std::string(report.operation->waits ? "operation, not begun: " : "operation: ") +
           (report.operation_name.empty() ? "at " + hex(report.operation->address) : report.operation_name) +
           found(report.operation_found_by) + "\n";
    if (!report.requester.empty()) out += "requested by: \"" + printable(report.requester) + "\"\n";
  } else if (report.known && report.state != SafepointState::kNone && !report.operation_found_by.empty()) {
    out += "operation: none\n";
  }
  if (report.since)
    out += std::string("since: ") + (report.at_least ? "at least " : "") + seconds(*report.since) +
           found(report.since_found_by) + "\n";
  if (report.waiting)
    out += "the VM waits for: " + threads(static_cast<std::size_t>(std::max(0, *report.waiting))) + "\n";
  for (const LateThread& each : report.late) append_late(out, each);
  for (const LateHandshake& each : report.handshakes) append_handshake(out, each);
  if (report.locker && report.locker->wanted) {
    out += "A collection waits for native code that has an array of the heap (JNI critical region";
    out += report.locker->regions ? ", " + threads(static_cast<std::size_t>(std::max(0, *report.locker->regions))) : "";
    out += "; symbol GCLocker)\n";
  }
  return out;
}

void write_late(JsonWriter& json, const LateThread& late) {
  json.begin_object().member("name", late.java.name).member("threadId", late.java.id);
  json.member("nativeId", late.java.native_id).member("vmState", vm_state_name(late.java.vm_state));
  if (late.kernel) {
    json.member("kernelState", std::string(1, late.kernel->state));
    if (!late.kernel->wchan.empty() && late.kernel->wchan != "0") json.member("wchan", late.kernel->wchan);
  }
  json.member("why", late.why);
  if (!late.frame.empty()) json.member("frame", late.frame).member("code", late.code);
  json.end_object();
}

// `null`: not known, or there is none.
void write_text(JsonWriter& json, std::string_view key, std::string_view text) {
  json.key(key);
  if (text.empty()) json.null();
  else json.value(text);
}

void write_handshakes(JsonWriter& json, const SafepointReport& report) {
  json.key("handshakes");
  if (!report.handshakes_known) {
    json.null();
    return;
  }
  json.begin_array();
  for (const LateHandshake& each : report.handshakes) {
    json.begin_object();
    write_text(json, "name", each.name);
    write_text(json, "requester", each.requester);
    json.member("all", each.all).member("since", each.since).member("sinceIsLowerBound", true);
    json.key("late").begin_array();
    for (const LateThread& late : each.late) write_late(json, late);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_json(JsonWriter& json, const SafepointReport& report) {
  json.begin_object().member("verdict", verdict(report));
  write_text(json, "state", report.known ? to_string(report.state) : "");
  write_text(json, "operation", report.operation_name);
  if (report.operation) json.member("begun", !report.operation->waits);
  json.key("since");
  if (report.since) json.value(*report.since).member("sinceIsLowerBound", report.at_least);
  else json.null();
  write_text(json, "requester", report.requester);
  if (report.waiting) json.member("waitingFor", *report.waiting);
  if (report.locker) {
    json.key("gcLocker").begin_object().member("collectionWaits", report.locker->wanted);
    if (report.locker->regions) json.member("regions", *report.locker->regions);
    json.end_object();
  }
  json.key("late").begin_array();
  for (const LateThread& each : report.late) write_late(json, each);
  json.end_array();
  write_handshakes(json, report);
  json.key("foundBy").begin_object();
  write_text(json, "state", report.state_found_by);
  write_text(json, "operation", report.operation_found_by);
  write_text(json, "since", report.since_found_by);
  json.end_object().end_object();
}

}  // namespace

Result<ViewResult> view_safepoint(Inspection& inspection, const ViewOptions& options) {
  SafepointReport report = report_safepoint(inspection, {.stop = options.stop, .max_stop = options.max_stop});
  ViewResult result;
  if (options.json) {
    JsonWriter json(result.out);
    write_json(json, report);
  } else {
    result.out = text_of(report);
  }
  if (options.stop && inspection.target().process()) {
    JsonWriter(result.members).member("pauseMicros", report.pause.count() / 1000);
    if (!options.json && report.pause.count() > 0)
      result.out += "The late threads were stopped for " + std::to_string(report.pause.count() / 1000) + " us.\n";
  }
  result.missing = std::move(report.missing);
  return result;
}

}  // namespace jtrace::coreinspect
