// jtrace report IN -o report.html: one page without further files.
#include <memory>

#include "cli/commands.h"
#include "cli/output_name.h"
#include "cli/overwriting.h"
#include "cli/recording_input.h"
#include "cli/summaries.h"
#include "cli/trace_input.h"
#include "cli/trace_output.h"
#include "trace/io/report.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

struct ReportArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string title;
  bool strict = false;
  bool repair_utf8 = false;
};

Result<> write_profile(const ReportArguments& arguments, const io::StackProfile& profile) {
  const std::string& title = arguments.title.empty() ? arguments.inputs.front() : arguments.title;
  return write_output(arguments.output, io::profile_page(profile, title));
}

ExitStatus run(const ReportArguments& arguments) {
  if (const Result<> good = refuse_overwriting(arguments.output, arguments.inputs); !good) return report(good.error());
  const auto profile = read_only_profile(arguments.inputs);
  if (!profile) return report(profile.error());
  if (*profile) {
    const Result<> written = write_profile(arguments, **profile);
    return written ? ExitStatus::kOk : report(written.error());
  }
  io::FaultLog faults = warnings(arguments.strict);
  const auto opened =
      open_parts(arguments.inputs, faults, {.strict = arguments.strict, .repair_utf8 = arguments.repair_utf8});
  if (!opened) return report(opened.error());
  const auto bytes = open_trace_output(arguments.output);
  if (!bytes) return report(bytes.error());
  const auto collector = io::make_report_collector();
  const auto summary = opened->source->read(*collector);
  if (!summary) return report(summary.error());
  if (Result<> finished = collector->finish(); !finished) return report(finished.error());
  const std::string title = arguments.title.empty() ? opened->name : arguments.title;
  Result<> written =
      collector->write(**bytes, {.title = title, .faults = faults.counts(), .truncated = summary->truncated});
  if (written) written = (*bytes)->finish();
  if (!written) return report(written.error());
  return report_input(opened->name, *summary, faults, {.losses = collector->losses(), .parts = opened->missing});
}

}  // namespace

void add_report_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand("report", summary_of("report"));
  command
      ->add_option("IN", arguments->inputs,
                   "a trace: XML, fragments or SDDF, compressed or not; the parts of a rotated trace; - is stdin; or a "
                   "profile: collapsed stacks or speedscope")
      ->required();
  command->add_option("-o,--output", arguments->output, "the page; - is stdout; it appears when it is complete")
      ->required()
      ->check(named_like("a page of HTML", {".html", ".htm"}));
  command->add_option("--title", arguments->title, "title of the page (default: the name of the trace)");
  command->add_flag("--strict", arguments->strict, "what cannot be read of an input is an error");
  command->add_flag("--repair-utf8", arguments->repair_utf8, "accept the JVM's modified UTF-8 and convert it");
  command->footer("Example: jtrace report app.trcxml -o report.html");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
