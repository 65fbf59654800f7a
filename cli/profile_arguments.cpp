#include "cli/profile_arguments.h"

#include <algorithm>

#include "base/clock.h"
#include "cli/one_of.h"
#include "cli/shipped_output.h"
#include "cli/units.h"

namespace jtrace::cli {

bool takes_waits(const ProfileArguments& arguments) { return arguments.wall || arguments.off_cpu; }
const char* kind_of(const ProfileArguments& arguments) {
  return arguments.off_cpu ? "off-cpu" : arguments.wall ? "wall" : "cpu";
}

sampling::Rotation rotation_of(const ProfileArguments& arguments) {
  return {.every = parse_seconds(arguments.rotate).value_or(0), .keep = parse_seconds(arguments.keep).value_or(0)};
}

namespace {

Result<> check_targets(const ProfileArguments& arguments) {
  const bool all = std::all_of(arguments.targets.begin(), arguments.targets.end(),
                               [](const std::string& target) { return target == "all"; });
  if (arguments.targets.empty() && arguments.group.empty())
    return fail(ErrorCategory::kUsage, "PID is required", "or all, or --cgroup");
  if (!arguments.group.empty() && !all)
    return fail(ErrorCategory::kUsage, "--cgroup selects the JVMs: no PID goes with it");
  return {};
}

Result<> check_kind(const ProfileArguments& arguments) {
  if (arguments.wall + arguments.cpu + arguments.off_cpu > 1)
    return fail(ErrorCategory::kUsage, "--cpu, --wall and --off-cpu exclude each other");
  if (arguments.off_cpu && arguments.ptrace)
    return fail(ErrorCategory::kUsage, "--off-cpu needs perf events: --ptrace cannot measure how long a wait is",
                "--wall --ptrace samples all threads");
  if (!arguments.least.empty() && (!takes_waits(arguments) || arguments.ptrace))
    return fail(ErrorCategory::kUsage, "--min is for waits", "--off-cpu or --wall");
  if (arguments.off_cpu && arguments.hz > 0)
    return fail(ErrorCategory::kUsage, "--hz is for samples of CPU time: waits are not sampled, each is seen",
                "--min leaves out the short ones; --wall has both");
  return {};
}

Result<> check_files(const ProfileArguments& arguments, const std::string& format) {
  const std::string& output = arguments.inspect.output;
  if (!arguments.rotate.empty() && (output.empty() || output == "-" || arguments.ptrace))
    return fail(ErrorCategory::kUsage, "--rotate makes files of samples by perf events",
                "-o NAME.html, without --ptrace");
  if (!arguments.rotate.empty() && rotation_of(arguments).every < kNanosPerSecond)
    return fail(ErrorCategory::kUsage, "--rotate takes at least a second: the files are named by it");
  if (!arguments.keep.empty() && arguments.rotate.empty())
    return fail(ErrorCategory::kUsage, "--keep is for the files of --rotate");
  if (!arguments.keep.empty() && rotation_of(arguments).keep == 0)
    return fail(ErrorCategory::kUsage, "--keep 0 would keep nothing", "without --keep all files stay");
  if (arguments.has_rows() && format != "text")
    return fail(ErrorCategory::kUsage, "--rows is for the table of --format text: " + format + " has all");
  if (format == "xml" && takes_waits(arguments) && !arguments.ptrace)
    return fail(ErrorCategory::kUsage, "a trace (.xml) of a profile has no waits",
                "--wall --ptrace writes what all threads do at each sample; jtrace attach --events "
                "monitors,sleeps,parks records waits as events; or another format");
  return {};
}

}  // namespace

Result<> check_profile(const ProfileArguments& arguments, const std::string& format) {
  JTRACE_RETURN_IF_ERROR(check_targets(arguments));
  JTRACE_RETURN_IF_ERROR(check_kind(arguments));
  JTRACE_RETURN_IF_ERROR(check_files(arguments, format));
  if (arguments.stack_bytes % 8 != 0 || arguments.stack_bytes < 512 ||
      arguments.stack_bytes > sampling::kMostStackBytes)
    return fail(ErrorCategory::kUsage,
                "--stack-size is a multiple of 8 from 512 to " + std::to_string(sampling::kMostStackBytes) + " bytes");
  return {};
}

namespace {

// "2%" is the number 2.
CLI::Validator without_percent() {
  return CLI::Validator(
      [](std::string& word) {
        if (word.ends_with('%')) word.pop_back();
        return std::string();
      },
      "");
}

}  // namespace

void add_profile_options(CLI::App& command, ProfileArguments& arguments) {
  arguments.inspect.format.clear();
  arguments.inspect.output.clear();
  command.add_option(
      "PID", arguments.targets,
      "process id, or part of a main class; several, or all: each JVM is the outermost frame of its stacks");
  command.add_option(
      "--cgroup", arguments.group,
      "all JVMs of a container (its name, or the beginning of its id) or control group (part of its path), "
      "without PID");
  command.add_option("-o,--output", arguments.inspect.output,
                     "file to write: .collapsed, .speedscope.json, .json, .pb.gz (pprof), .jfr, .html, .svg, .xml; "
                     "without it a table; - is "
                     "collapsed");
  add_ship_option(command, arguments.ship);
  command.add_option("--format", arguments.inspect.format, "what to write, whatever the name of the file")
      ->check(
          one_of(std::vector<std::string>(std::begin(sampling::kProfileFormats), std::end(sampling::kProfileFormats))));
  arguments.rows_option = add_rows(command, arguments.rows, "rows of each table of text (20, and none below 1 %)");
  command.add_option("--hz", arguments.hz, "samples per second (99; 20 if threads are stopped)")
      ->check(CLI::Range(0.01, 1e6));
  command.add_option("--duration", arguments.duration, "stop after this time (30s, 5m); without it at Ctrl-C")
      ->type_name("TIME")
      ->check(is_time({.least = std::chrono::milliseconds(1)}));
  command.add_option("--rotate", arguments.rotate, "begin a new file at this interval; its name has the time")
      ->type_name("TIME")
      ->check(is_time());
  command.add_option("--keep", arguments.keep, "with --rotate: remove files that are older than this")
      ->type_name("TIME")
      ->check(is_time());
  command.add_flag("--cpu", arguments.cpu, "threads that run (the default)");
  command.add_flag("--off-cpu", arguments.off_cpu, "waits: where, for what and how long");
  command.add_flag("--wall", arguments.wall, "both: CPU time and waits");
  command.add_option("--min", arguments.least, "shorter waits are only counted (1ms)")
      ->type_name("TIME")
      ->check(is_time());
  add_size(command, "--stack-size", arguments.stack_bytes, "how much of a stack is copied (32K)");
  command.add_flag("--ptrace", arguments.ptrace, "stop threads for each sample, without perf events");
  command.add_flag("--no-fallback", arguments.no_fallback, "fail if perf events are not allowed");
  command
      .add_option("--max-share", arguments.max_share,
                  "if threads are stopped: largest share of the time for which the target is stopped (2%)")
      ->type_name("N%")
      ->transform(without_percent())
      ->check(CLI::Range(0.01, 100.0));
  add_max_stop(command, arguments.inspect, "longest single stop (200ms)");
}

}  // namespace jtrace::cli
