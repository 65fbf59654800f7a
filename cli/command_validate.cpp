// jtrace validate IN: checks a trace.
#include <cstdio>
#include <memory>

#include "base/strings.h"
#include "cli/commands.h"
#include "cli/summaries.h"
#include "cli/trace_input.h"
#include "cli/units.h"
#include "trace/io/loss_sink.h"
#include "trace/io/validator.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

struct ValidateArguments {
  std::vector<std::string> inputs;
  bool strict = false;
  bool repair_utf8 = false;
  std::uint64_t limit = 20;
};

Result<io::ReadSummary> check(const ValidateArguments& arguments, io::FaultLog& faults, io::Validator& validator,
                              io::Losses& lost) {
  JTRACE_ASSIGN_OR_RETURN(
      const auto opened,
      open_parts(arguments.inputs, faults,
                 {.strict = arguments.strict, .repair_utf8 = arguments.repair_utf8, .judges_ends = true},
                 [&](const std::string& name) { validator.set_name(name); }));
  validator.set_source(opened.source.get());
  io::LossSink losses(validator);
  JTRACE_ASSIGN_OR_RETURN(io::ReadSummary summary, opened.source->read(losses));
  summary.truncated = summary.truncated || opened.missing;
  JTRACE_RETURN_IF_ERROR(
      validator.finish_after(summary.truncated ? io::Validator::Ending::kCut : io::Validator::Ending::kWhole));
  lost = losses.losses();
  return summary;
}

ExitStatus run(const ValidateArguments& arguments) {
  io::FaultLog faults({.strict = arguments.strict,
                       .repeats = io::FaultLog::Repeats::kAll,
                       .limit = arguments.limit,
                       .print = [](const std::string& text) { std::printf("%s\n", text.c_str()); }});
  const std::string& name = arguments.inputs.front();
  io::Validator validator(name, faults);
  io::Losses lost;
  const auto summary = check(arguments, faults, validator, lost);
  if (!summary) return report(summary.error());
  if (faults.total() > faults.printed())
    std::printf("... and %llu more\n", static_cast<unsigned long long>(faults.total() - faults.printed()));
  for (const auto& [kind, count] : faults.counts())
    std::printf("%12llu  %s\n", static_cast<unsigned long long>(count), kind.c_str());
  if (summary->truncated) std::printf("%s: truncated after this many elements\n", name.c_str());
  std::printf("%s: %llu elements, %llu faults\n", name.c_str(), static_cast<unsigned long long>(summary->elements),
              static_cast<unsigned long long>(faults.total()));
  for (const std::string& line : io::lines_of(lost))
    std::printf("%s: %s, which is no fault of the document\n", name.c_str(), line.c_str());
  if (faults.total() != 0) return ExitStatus::kMalformed;
  return summary->truncated ? ExitStatus::kPartial : ExitStatus::kOk;
}

}  // namespace

void add_validate_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ValidateArguments>();
  CLI::App* command = app.add_subcommand("validate", summary_of("validate"));
  command
      ->add_option("IN", arguments->inputs,
                   "a trace: XML, fragments or SDDF, compressed or not; the parts of a rotated trace; - is stdin")
      ->required();
  command->add_flag("--strict", arguments->strict, "stop at the first fault");
  command->add_flag("--repair-utf8", arguments->repair_utf8, "accept the JVM's modified UTF-8 and convert it");
  add_old_name(*command, command->add_option("--rows", arguments->limit, "faults that are listed (20)"), "--limit");
  command->footer("Exit status: 0 sound, 8 faults, 9 the input is cut off.\nExample: jtrace validate app.trcxml");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
