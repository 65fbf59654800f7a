// jtrace stats IN: the contents of a trace in figures.
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/summaries.h"
#include "cli/trace_input.h"
#include "cli/units.h"
#include "trace/io/statistics.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

struct StatsArguments {
  std::vector<std::string> inputs;
  std::string format = "text";
  std::size_t rows = 20;
  bool strict = false;
  bool repair_utf8 = false;
};

ExitStatus run(const StatsArguments& arguments) {
  io::FaultLog faults = warnings(arguments.strict);
  io::Statistics statistics;
  const auto opened =
      open_parts(arguments.inputs, faults, {.strict = arguments.strict, .repair_utf8 = arguments.repair_utf8});
  if (!opened) return report(opened.error());
  const auto summary = opened->source->read(statistics);
  if (!summary) return report(summary.error());
  if (Result<> finished = statistics.finish(); !finished) return report(finished.error());
  note_missing(statistics, *summary, opened->missing);
  const std::string out = arguments.format == "json" ? statistics_json(statistics, opened->name, arguments.rows)
                                                     : statistics_text(statistics, arguments.rows);
  std::fwrite(out.data(), 1, out.size(), stdout);
  return report_input(opened->name, *summary, faults, {.losses = statistics.losses(), .parts = opened->missing});
}

}  // namespace

void add_stats_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<StatsArguments>();
  CLI::App* command = app.add_subcommand("stats", summary_of("stats"));
  command
      ->add_option("IN", arguments->inputs,
                   "a trace: XML, fragments or SDDF, compressed or not; the parts of a rotated trace; - is stdin")
      ->required();
  command->add_option("--format", arguments->format, "text or json")->check(one_of({"text", "json"}));
  add_rows(*command, arguments->rows, "rows of each table (20)");
  command->add_flag("--strict", arguments->strict, "what cannot be read of an input is an error");
  command->add_flag("--repair-utf8", arguments->repair_utf8, "accept the JVM's modified UTF-8 and convert it");
  command->footer("Example: jtrace stats app.trcxml --format json");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
