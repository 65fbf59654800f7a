// hsperf restore: makes an hsperfdata file from an XML series, with equal entries.
#include <memory>

#include "base/strings.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/hsperf_output.h"
#include "cli/overwriting.h"
#include "perfdata/restorer.h"
#include "trace/io/open_source.h"

namespace jtrace::cli {
namespace {

struct RestoreArguments {
  std::string input, output;
  perfdata::RestoreOptions options;
};

Result<ExitStatus> restore(const RestoreArguments& arguments) {
  JTRACE_RETURN_IF_ERROR(refuse_overwriting(arguments.output, {arguments.input}));
  trace::io::FaultLog faults;
  JTRACE_ASSIGN_OR_RETURN(const auto source, trace::io::open_event_source(arguments.input, faults));
  perfdata::Restorer restorer(arguments.options);
  JTRACE_ASSIGN_OR_RETURN(const trace::io::ReadSummary summary, source->read(restorer));
  if (summary.truncated) log_warning(arguments.input + " is cut off: the counters before that are used");
  JTRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> region, restorer.region());
  if (restorer.masked() != 0) log_warning(counted(restorer.masked(), "value") + " had secrets taken out when saved");
  if (!restorer.is_stable()) {
    const std::uint64_t missing = restorer.missing();
    log_warning(arguments.input + ": the sample is torn, or there was no room for all of it" +
                (missing == 0 ? "" : ": " + counted(missing, "counter") + " " + is_are(missing) + " missing"));
  }
  JTRACE_ASSIGN_OR_RETURN(const auto file, open_output(arguments.output, 0));
  JTRACE_RETURN_IF_ERROR(file->write({reinterpret_cast<const char*>(region.data()), region.size()}));
  JTRACE_RETURN_IF_ERROR(file->finish());
  return summary.truncated || !restorer.is_stable() ? ExitStatus::kPartial : ExitStatus::kOk;
}

}  // namespace

void add_hsperf_restore(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<RestoreArguments>();
  auto* command = app.add_subcommand("restore", "make an hsperfdata file from an XML series");
  command->add_option("FILE", arguments->input, "output of poll or snap --format xml")->required();
  command->add_option("-o,--output", arguments->output, "the hsperfdata file to make")->required();
  command->add_option("--sample", arguments->options.sample, "number of the sample, from 1 (default: the last)");
  command->add_option("--pid", arguments->options.pid, "the JVM, if the series has several");
  command->footer(
      "example: hsperf restore counters.xml -o counters.hsperfdata && jstat -gcutil file://$PWD/counters.hsperfdata");
  command->callback([arguments, &status] {
    auto done = restore(*arguments);
    status = done ? *done : report(done.error());
  });
}

}  // namespace jtrace::cli
