// What the commands share that answer a question either from a trace or from a JVM that is traced for a while: jtrace
// slow, jtrace exceptions, jtrace allocations.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "session/options/options.h"
#include "target/jvm_discovery.h"
#include "trace/io/statistics.h"

namespace jtrace::cli {

struct BriefTrace {
  std::string target;  // a JVM (selector.h), or a trace: "-", an existing file, anything with a '/'
  std::string duration = "10s";
  std::vector<std::string> filters;
  bool leaves_out_jdk = true;         // without filters
  std::size_t own_methods = 0;        // of the JDK, for which the command has filters of its own
  std::string output;                 // where the trace is kept; "": nowhere
  const CLI::App* command = nullptr;  // whose options are of a JVM alone, but for those of the answer
  // Refuses a JVM that cannot answer, before it is traced; null: none.
  std::function<Result<>(const target::Jvm&)> check;
  // After a JVM was traced for the whole duration: whether this trace has no answer, and one more, which is shorter and
  // made with other options (`give` below), would. Null: never; not asked where the trace is kept.
  std::function<bool(const trace::io::Statistics&)> wants_closer_look;
};

// PID|IN, --duration, --filter, --output; `arguments` lives as long as `command`.
void add_brief_trace(CLI::App& command, BriefTrace& arguments);

// Reads the trace, or traces the JVM with the options that `give` adds (true: for a closer look), and prints what
// `answer` makes of it: of the statistics and the name of the input. `kind` names the temporary file.
ExitStatus answer_from_trace(
    const BriefTrace& arguments, const std::string& kind,
    const std::function<Result<>(session::OptionReader&, bool)>& give,
    const std::function<std::string(const trace::io::Statistics&, const std::string& name)>& answer);

}  // namespace jtrace::cli
