#include "cli/diagnose_arguments.h"

#include <fcntl.h>

#include "base/file.h"
#include "base/unique_fd.h"
#include "cli/one_of.h"
#include "cli/output_name.h"
#include "cli/units.h"
#include "diagnose/bundle_file.h"

namespace jtrace::cli {
namespace {

Result<> check_opens(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd file, open_file(path, O_RDONLY | O_NONBLOCK));
  return {};
}

}  // namespace

InspectArguments of_process(const DiagnoseArguments& arguments, pid_t pid) {
  InspectArguments live = arguments.inspect;
  live.target = std::to_string(pid);
  return live;
}

Result<> check_diagnose(const DiagnoseArguments& arguments) {
  const std::string& target = arguments.inspect.target;
  // A pid is no file, and is said to be no bundle.
  if (!arguments.later.empty() && (target.ends_with(".zip") || is_file_name(target))) {
    JTRACE_RETURN_IF_ERROR(check_opens(target));
    JTRACE_RETURN_IF_ERROR(check_opens(arguments.later));
  }
  const bool is_bundle = is_file_name(target) && diagnose::is_bundle(target);
  if (!arguments.later.empty() && !(is_bundle && diagnose::is_bundle(arguments.later))) {
    const std::string& other = is_bundle ? arguments.later : target;
    return fail(ErrorCategory::kUsage, other + " is not a bundle: two bundles are compared",
                "jtrace diagnose PID -o FILE.zip");
  }
  if (arguments.output.empty() && (arguments.core || arguments.anonymize))
    return fail(ErrorCategory::kUsage, "--core and --anonymize are for a bundle", "-o FILE.zip");
  if (arguments.core && arguments.anonymize)
    return fail(ErrorCategory::kUsage, "names in a core cannot be replaced: either --core or --anonymize");
  if (!arguments.output.empty() && is_file_name(target))
    return fail(ErrorCategory::kUsage, target + " is not a process: a bundle is made of a live JVM");
  if (!arguments.watch && (!arguments.when.empty() || arguments.every.count() > 0))
    return fail(ErrorCategory::kUsage, "--when and --every are for --watch");
  if (arguments.watch && arguments.output.empty())
    return fail(ErrorCategory::kUsage, "--watch makes a bundle when something is found", "-o FILE.zip");
  if (arguments.output == "-")
    return fail(ErrorCategory::kUsage, "the verdict goes to standard output, so the bundle needs a file",
                "-o FILE.zip");
  return {};
}

void add_diagnose_options(CLI::App& command, DiagnoseArguments& arguments) {
  arguments.inspect.max_stop = std::chrono::milliseconds(10);
  command
      .add_option("PID|CORE|BUNDLE", arguments.inspect.target,
                  "process id, part of a main class, a core file, or a bundle that -o made")
      ->required();
  command.add_option("NEW", arguments.later, "a later bundle: what has changed since the first one");
  command
      .add_option("-o,--output", arguments.output,
                  "zip archive to make: the verdict and its data, to be examined later")
      ->check(named_like("a zip archive", {".zip"}));
  command.add_flag("--core", arguments.core, "with a small core in the bundle, as jtrace core --small writes it");
  command.add_flag("--anonymize", arguments.anonymize,
                   "replace names of host, user, home and working folder, and IPv4 addresses, in the bundle");
  command.add_option("--format", arguments.inspect.format, "text or json")->check(one_of({"text", "json"}));
  add_time(command, "--interval", arguments.interval, "time between two of the three samples (1s)",
           {.least = std::chrono::milliseconds(200), .most = std::chrono::minutes(1)});
  add_time(command, "--budget", arguments.budget,
           "time limit for everything except the two intervals, and once more for a bundle (3s); what is not read by "
           "then is named",
           {.least = std::chrono::milliseconds(100), .most = std::chrono::hours(1)});
  add_max_stop(command, arguments.inspect, "longest single stop (10ms)");
  command.add_option("--sysroot", arguments.inspect.files.sysroot,
                     "for a core: the folder below which mapped files are searched");
  command.add_option("--libjvm", arguments.inspect.files.libjvm,
                     "for a core: the libjvm.so that the process had mapped");
  command.add_flag("--watch", arguments.watch,
                   "wait until something is found, or --when holds, then make the bundle and end");
  command
      .add_option("--when", arguments.when,
                  "what to wait for: 'rss > 1500M', 'group > 90%' (of the control group's memory limit), or a "
                  "condition of hsperf check")
      ->type_name("CONDITION");
  add_time(command, "--every", arguments.every, "time between two looks (60s; with --when 1s)",
           {.least = std::chrono::milliseconds(100), .most = std::chrono::hours(24)});
}

}  // namespace jtrace::cli
