#include "perfdata/snapshot_text.h"

#include <cstdio>

#include "base/strings.h"

namespace jtrace::perfdata {

void append_one_line(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '\r') out += "\\r";
    else if (c == '\\') out += "\\\\";
    else if (byte < 0x20 || byte == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
}

std::string value_text(const CounterTable& table, const Snapshot& snapshot, const Row& row, bool show_secrets) {
  if (row.is_text()) return table.text_value(snapshot, row, show_secrets);
  std::string text;
  append_quantity(text, row.metadata.quantity, table.long_value(snapshot, row), table.traits());
  return text;
}

namespace {

void append_raw_line(std::string& out, const CounterTable& table, const Snapshot& snapshot, const Row& row,
                     bool show_secrets) {
  if (row.is_text()) {
    out.append("\"").append(table.text_value(snapshot, row, show_secrets)).append("\"");
  } else {
    append_decimal(out, table.long_value(snapshot, row));
  }
}

void append_value(std::string& out, const CounterTable& table, const Snapshot& snapshot, const Row& row,
                  bool show_secrets) {
  if (row.is_text()) {
    out += '"';
    append_one_line(out, table.text_value(snapshot, row, show_secrets));
    out += '"';
    return;
  }
  append_quantity(out, row.metadata.quantity, table.long_value(snapshot, row), table.traits());
  if (const auto unit = quantity_unit(row.metadata.quantity); !unit.empty()) out.append(" ").append(unit);
  const Freshness freshness = row.metadata.freshness;
  if (freshness == Freshness::kGc) out += " (changes only at a collection)";
  if (freshness == Freshness::kSampled) out += " (sampled every 50 ms)";
}

}  // namespace

void append_text(std::string& out, const CounterTable& table, const Snapshot& snapshot, const TextOptions& options) {
  for (const Row& row : table.rows()) {
    append_one_line(out, row.name);
    out += '=';
    if (options.raw) append_raw_line(out, table, snapshot, row, options.show_secrets);
    else append_value(out, table, snapshot, row, options.show_secrets);
    out += '\n';
  }
}

void append_json_value(JsonWriter& json, const CounterTable& table, const Snapshot& snapshot, const Row& row,
                       bool show_secrets) {
  if (row.is_text()) {
    json.member("value", table.text_value(snapshot, row, show_secrets));
    return;
  }
  const std::int64_t raw = table.long_value(snapshot, row);
  // Integers stay integers: a double would lose digits of large numbers.
  if (quantity_unit(row.metadata.quantity) == "seconds")
    json.member("value", quantity_value(row.metadata.quantity, raw, table.traits()));
  else if (row.metadata.quantity == Quantity::kWords)
    json.member("value", static_cast<std::int64_t>(static_cast<std::uint64_t>(raw) * 8));
  else json.member("value", raw);
}

void append_json_rows(JsonWriter& json, const CounterTable& table, const Snapshot& snapshot,
                      const TextOptions& options) {
  for (const Row& row : table.rows()) {
    json.begin_object().member("name", row.name);
    append_json_value(json, table, snapshot, row, options.show_secrets);
    json.member("units", quantity_unit(row.metadata.quantity))
        .member("variability", variability_name(row.variability))
        .member("freshness", freshness_name(row.metadata.freshness));
    if (!row.is_text()) json.member("raw", table.long_value(snapshot, row));
    json.member("declaredUnits", units_name(row.units)).end_object();
  }
}

void append_csv_field(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_csv(std::string& out, const CounterTable& table, const Snapshot& snapshot, const TextOptions& options) {
  out += "name,value,units,variability,freshness\r\n";
  for (const Row& row : table.rows()) {
    append_csv_field(out, row.name);
    out += ',';
    append_csv_field(out, value_text(table, snapshot, row, options.show_secrets));
    out.append(",").append(quantity_unit(row.metadata.quantity));
    out.append(",").append(variability_name(row.variability));
    out.append(",").append(freshness_name(row.metadata.freshness)).append("\r\n");
  }
}

}  // namespace jtrace::perfdata
