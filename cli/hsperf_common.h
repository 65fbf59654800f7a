// Shared by the subcommands of hsperf: selecting JVMs, and the options for reading them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/command.h"
#include "cli/units.h"
#include "perfdata/counter_source.h"
#include "perfdata/counter_table.h"
#include "target/core_memory.h"

namespace jtrace::cli {

// A number without a unit is in ms, as in jstat.
inline constexpr TimeRange kIntervalRange{PlainUnit::kMilliseconds};

struct SourceArguments {
  std::vector<std::string> selectors;  // a pid, a file, a core, a part of a main class, or "all"
  bool trust = false;
  bool stale = false;
  bool partial = false;
  bool any_state = false;
  bool mapped = false;  // for repeated reads: see SourceOptions
  std::chrono::milliseconds wait{1000};
  target::CoreFileOptions core;

  perfdata::SourceOptions options() const;
};

// The positional JVM... (several) or JVM, and --trust, --stale, --partial, --any-state, --wait.
void add_source_arguments(CLI::App& command, SourceArguments& arguments, bool several);

// The JVMs of one selector. Errors: kNotFound (no match), kUsage (several match; they are listed).
Result<std::vector<perfdata::CounterSource>> open_selector(const std::string& selector,
                                                           const SourceArguments& arguments);
// The one JVM of a selector ("all" is refused).
Result<perfdata::CounterSource> open_one(const SourceArguments& arguments);
// All JVMs of all selectors; a JVM that cannot be opened is reported and raises `status`.
std::vector<perfdata::CounterSource> open_all(const SourceArguments& arguments, ExitStatus& status);

// Prints the warnings about this source on stderr.
void print_warnings(const perfdata::CounterSource& source);

// --counters REGEX (ECMAScript, matched anywhere in the name); an empty text matches all. Error: kUsage.
void add_counters_option(CLI::App& command, std::string& regex);
Result<perfdata::NameFilter> parse_filter(const std::string& regex);
// kUsage if it matches no counter of any of them.
Result<> check_matches(const std::vector<perfdata::CounterSource>& sources, const std::string& regex);

// Writes `text` to standard output and flushes it.
Result<> print_out(std::string_view text);

// The object of `--format json` for a target, up to its "data" (docs/architecture.md).
void begin_json_view(JsonWriter& json, std::string_view view, const perfdata::CounterSource& source,
                     const perfdata::Snapshot& snapshot);

}  // namespace jtrace::cli
