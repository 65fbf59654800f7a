// A snapshot as text, JSON and CSV. (XML: trace_events.h; OpenMetrics: openmetrics.h.) Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "perfdata/counter_table.h"

namespace jtrace::perfdata {

struct TextOptions {
  bool show_secrets = false;
  bool raw = false;  // exactly what `jcmd PID PerfCounter.print` prints: declared numbers, nothing else
};

// One line a counter: "name=value", then the unit and, unless it is live or constant, the freshness.
void append_text(std::string& out, const CounterTable& table, const Snapshot& snapshot, const TextOptions& options);

// The elements of `data` (docs/architecture.md, "JSON answers"): name value units variability, and freshness, raw and
// declaredUnits where they differ.
void append_json_rows(JsonWriter& json, const CounterTable& table, const Snapshot& snapshot,
                      const TextOptions& options);

// The member "value": a number in the true unit, or text.
void append_json_value(JsonWriter& json, const CounterTable& table, const Snapshot& snapshot, const Row& row,
                       bool show_secrets);

// A head line and one line a counter: name,value,units,variability,freshness (RFC 4180).
void append_csv(std::string& out, const CounterTable& table, const Snapshot& snapshot, const TextOptions& options);
void append_csv_field(std::string& out, std::string_view text);

// The value in its true unit, text as it is.
std::string value_text(const CounterTable& table, const Snapshot& snapshot, const Row& row, bool show_secrets);

// Text on one line: control characters and the backslash as \n, \t, \\, \xNN.
void append_one_line(std::string& out, std::string_view text);

}  // namespace jtrace::perfdata
