// The view `mutexes`: the locks below Java that a thread has or waits for.
#include "coreinspect/tools/mutex_report.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

std::string text_of(const MutexParty& party) {
  return (party.name.empty() ? "a thread" : "\"" + printable(party.name) + "\"") +
         (party.nid == 0 ? "" : " nid=" + std::to_string(party.nid));
}

bool is_idle(const MutexRow& row) { return !row.owner && row.waiters.empty(); }

std::string text_of(const MutexRow& row) {
  std::string out = row.kind == "vm" ? "VM lock " + row.name : "native mutex " + hex(row.address);
  out += row.owner ? " owned by " + text_of(*row.owner) : row.waiters.empty() ? " free" : " owner not known";
  if (row.sleepers > 0)
    out += ", " + std::to_string(row.sleepers) + (row.sleepers == 1 ? " waits" : " wait") + " for a notification";
  out += "\n";
  for (const MutexParty& each : row.waiters) out += "    " + text_of(each) + " waits to lock it\n";
  return out;
}

std::string text_of(const MutexReport& report, bool all) {
  std::string out;
  for (const auto& circle : report.circles) {
    out += "deadlock: ";
    for (const MutexParty& each : circle) out += text_of(each) + " -> ";
    out += text_of(circle.front()) + "\n";
  }
  for (const MutexRow& row : report.rows)
    if (all || !is_idle(row)) out += text_of(row);
  if (out.empty()) out = "No lock of the VM is held, and no thread waits for a mutex.\n";
  return out;
}

void write_party(JsonWriter& json, const MutexParty& party) {
  json.begin_object().member("name", party.name).member("nativeId", party.nid).end_object();
}

void write_parties(JsonWriter& json, const std::vector<MutexParty>& parties) {
  json.begin_array();
  for (const MutexParty& each : parties) write_party(json, each);
  json.end_array();
}

void write_row(JsonWriter& json, const MutexRow& row) {
  json.begin_object().member("kind", row.kind).member("address", hex(row.address));
  if (!row.name.empty()) json.member("name", row.name);
  if (row.owner) {
    json.key("owner");
    write_party(json, *row.owner);
  }
  json.key("waiters");
  write_parties(json, row.waiters);
  json.member("forNotification", row.sleepers).end_object();
}

}  // namespace

Result<ViewResult> view_mutexes(Inspection& inspection, const ViewOptions& options) {
  MutexReport report = report_mutexes(inspection);
  ViewResult result;
  if (options.json) {
    JsonWriter rows(result.out);
    for (const MutexRow& row : report.rows)
      if (options.all || !is_idle(row)) write_row(rows, row);
    JsonWriter json(result.members);
    json.member("foundBy", report.found_by).key("deadlocks").begin_array();
    for (const auto& circle : report.circles) write_parties(json, circle);
    json.end_array();
  } else {
    result.out = text_of(report, options.all);
  }
  result.missing = std::move(report.missing);
  return result;
}

}  // namespace jtrace::coreinspect
