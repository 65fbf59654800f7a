// What the subcommands of hsperf share: which JVMs are meant, and the options of reading them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/command.h"
#include "perfdata/counter_source.h"
#include "perfdata/counter_table.h"
#include "target/core_memory.h"

namespace jtrace::cli {

struct SourceArguments {
  std::vector<std::string> selectors;  // a pid, a file, a core, a part of a main class, or "all"
  bool trust = false;
  bool stale = false;
  bool partial = false;
  bool any_state = false;
  bool mapped = false;  // read often: see SourceOptions
  double wait_seconds = 1;
  target::CoreFileOptions core;

  perfdata::SourceOptions options() const;
};

// The positional JVM... (several) or JVM, and --trust, --stale, --partial, --any-state, --wait.
void add_source_arguments(CLI::App& command, SourceArguments& arguments, bool several);

// The counters in a core, through the PerfMemory that its vmStructs name. Errors: those of Target::open_core and of the
// parser; kRefused where the JVM kept none.
Result<perfdata::CounterSource> open_core_counters(const std::string& path, const SourceArguments& arguments);

// One selector as the JVMs it means. Errors: kNotFound (no match), kUsage (several match; they are listed).
Result<std::vector<perfdata::CounterSource>> open_selector(const std::string& selector,
                                                           const SourceArguments& arguments);
// The one JVM of a selector ("all" is refused).
Result<perfdata::CounterSource> open_one(const SourceArguments& arguments);
// All JVMs of all selectors; what cannot be opened is reported and raises `status`.
std::vector<perfdata::CounterSource> open_all(const SourceArguments& arguments, ExitStatus& status);

// Prints the warnings about this source on stderr.
void print_warnings(const perfdata::CounterSource& source);

// --filter REGEX (ECMAScript, found anywhere in the name); an empty text lets all through. Error: kUsage.
Result<perfdata::NameFilter> parse_filter(const std::string& regex);

// "500", "500ms", "2s", "1.5s" in ms; jstat's rules and fractions. Error: kUsage.
Result<std::chrono::nanoseconds> parse_interval(std::string_view text);

// All of `text` to standard output at once.
Result<> print_out(std::string_view text);

// The object that `--format json` gives for a target, as far as its "data" (docs/architecture.md).
void begin_json_view(JsonWriter& json, std::string_view view, const perfdata::CounterSource& source,
                     const perfdata::Snapshot& snapshot);

}  // namespace jtrace::cli
