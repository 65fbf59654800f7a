#include "perfdata/sample_rows.h"

#include <charconv>
#include <cstring>

#include "base/json.h"
#include "base/strings.h"
#include "perfdata/snapshot_text.h"

namespace jtrace::perfdata {
namespace {

void append_number(std::string& out, double number) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append_time(std::string& out, const Snapshot& snapshot) {
  append_decimal(out, snapshot.realtime_ns / 1'000'000'000);
  const std::string fraction = std::to_string(snapshot.realtime_ns % 1'000'000'000);
  out.append(".").append(9 - fraction.size(), '0').append(fraction);
}

}  // namespace

std::string_view SampleRows::csv_head() { return "time,pid,name,value,units,delta,rate\r\n"; }

void SampleRows::prepare(const Snapshot& snapshot) {
  if (!table_ || !table_->is_for(snapshot)) table_ = std::make_unique<CounterTable>(snapshot, options_.filter, false);
}

SampleRows::Change SampleRows::change_of(const Snapshot& snapshot, const Row& row) const {
  Change change;
  const auto before = previous_.raw_value(*row.counter);  // entries never move: the same place in an older copy
  if (before.empty()) return change;
  const auto now = snapshot.raw_value(*row.counter);
  change.known = true;
  change.changed = now.size() != before.size() || std::memcmp(now.data(), before.data(), now.size()) != 0;
  if (row.counter->kind != ValueKind::kLong || row.is_text()) return change;
  const Quantity quantity = row.metadata.quantity;
  change.delta = quantity_value(quantity, snapshot.long_value(*row.counter), table_->traits()) -
                 quantity_value(quantity, previous_.long_value(*row.counter), table_->traits());
  const double seconds = static_cast<double>(snapshot.monotonic_ns - previous_.monotonic_ns) / 1e9;
  change.has_rate = row.variability == static_cast<std::uint8_t>(Variability::kMonotonic) && seconds > 0;
  if (change.has_rate) change.rate = change.delta / seconds;
  return change;
}

void SampleRows::append_csv(std::string& out, const Snapshot& snapshot) {
  prepare(snapshot);
  for (const Row& row : table_->rows()) {
    const Change change = change_of(snapshot, row);
    if (!change.changed && !options_.full) continue;
    append_time(out, snapshot);
    out += ',';
    if (options_.pid != 0) append_decimal(out, options_.pid);
    out += ',';
    append_csv_field(out, row.name);
    out += ',';
    append_csv_field(out, value_text(*table_, snapshot, row, options_.show_secrets));
    out.append(",").append(quantity_unit(row.metadata.quantity)).append(",");
    if (change.known && !row.is_text()) append_number(out, change.delta);
    out += ',';
    if (change.has_rate) append_number(out, change.rate);
    out += "\r\n";
  }
  previous_ = snapshot;
}

void SampleRows::append_json(std::string& out, const Snapshot& snapshot) {
  prepare(snapshot);
  out += "{\"time\":";
  append_time(out, snapshot);
  if (options_.pid != 0) out.append(",\"pid\":").append(std::to_string(options_.pid));
  out += ",\"data\":";
  JsonWriter json(out);
  json.begin_array();
  for (const Row& row : table_->rows()) {
    const Change change = change_of(snapshot, row);
    if (!change.changed && !options_.full) continue;
    json.begin_object().member("name", row.name);
    append_json_value(json, *table_, snapshot, row, options_.show_secrets);
    if (change.known && !row.is_text()) json.member("delta", change.delta);
    if (change.has_rate) json.member("rate", change.rate);
    json.end_object();
  }
  json.end_array();
  out += "}\n";
  previous_ = snapshot;
}

}  // namespace jtrace::perfdata
