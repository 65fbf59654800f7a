// jtrace slow PID|IN: the calls that took long, and what they waited for, in a JVM that is traced for a while, or in a
// trace.
#include <algorithm>
#include <memory>

#include "base/time_text.h"
#include "cli/brief_trace.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/summaries.h"
#include "cli/units.h"
#include "trace/io/io_methods.h"
#include "trace/io/slow_text.h"
#include "trace/record/start_options.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;
namespace record = trace::record;
using session::kLeastCoarse;  // for shorter times the precise clock is used

struct SlowArguments {
  BriefTrace trace;
  std::string over = "200ms";
  bool no_arguments = false;
  bool with_idle = false;
  bool io = false, cpu_time = false;
  std::string format = "text";
  std::size_t rows = 20;
};

constexpr std::uint64_t kAlways = 50'000'000;  // ns; calls of this time are few enough for any program
constexpr std::uint64_t kShortest = 100'000;   // ns; the shortest call that may be the slowest seen

// Calls that took a twentieth of it are recorded too, so that there is something to show if no call was slow.
std::uint64_t recorded_from(std::uint64_t over) {
  return over < kLeastCoarse ? over : std::clamp(over / 20, kLeastCoarse, kAlways);
}

// If no call took even that long: the slowest of those of this time and more. Quicker ones are too many to look at.
std::uint64_t slowest_from(std::uint64_t over) { return over < kLeastCoarse ? kShortest : session::kLeastLongest; }

std::string millis(std::uint64_t ns) { return std::to_string(static_cast<double>(ns) / 1e6) + "ms"; }

// No call took as long as slowest_from(): the exact clock, which costs more in each call, shows the longest of them.
Result<> give_closer_look(session::OptionReader& reader) {
  JTRACE_RETURN_IF_ERROR(reader.give(record::kSlowerThanOption, "1ms"));
  JTRACE_RETURN_IF_ERROR(reader.give(record::kLongestFromOption, millis(kShortest)));
  return reader.give(record::kPreciseTimeOption, "precise");
}

Result<> give_times(session::OptionReader& reader, std::uint64_t over) {
  JTRACE_RETURN_IF_ERROR(reader.give(record::kSlowerThanOption, millis(recorded_from(over))));
  if (const std::uint64_t slowest = slowest_from(over); slowest < recorded_from(over))
    JTRACE_RETURN_IF_ERROR(reader.give(record::kLongestFromOption, millis(slowest)));
  return over < kLeastCoarse ? reader.give(record::kPreciseTimeOption, "precise") : Result<>();
}

Result<> give_options(session::OptionReader& reader, const SlowArguments& arguments, std::uint64_t over, bool closer) {
  // How many calls the slow ones are among: only with filters, because each method with callouts has an element.
  const std::string counts = arguments.trace.filters.empty() ? "" : ",counts";
  JTRACE_RETURN_IF_ERROR(reader.give(record::kEventsOption, "methods,gc,monitors,sleeps,parks,threads" + counts));
  JTRACE_RETURN_IF_ERROR(reader.give_flag(record::kMonitorOwnerOption));
  // Many short waits may make a call slow.
  JTRACE_RETURN_IF_ERROR(reader.give(record::kMinContentionOption, "0"));
  JTRACE_RETURN_IF_ERROR(closer ? give_closer_look(reader) : give_times(reader, over));
  if (arguments.cpu_time) JTRACE_RETURN_IF_ERROR(reader.give_flag(record::kCpuTimeOption));
  // Before the filters that leave the JDK out: the first that matches decides.
  if (arguments.io)
    for (const std::string& rule : io::io_filters()) JTRACE_RETURN_IF_ERROR(reader.give("filter", rule));
  // Arguments cost in quick calls too, so they are read only with filters.
  if (!arguments.trace.filters.empty() && !arguments.no_arguments) return reader.give_flag(record::kArgumentsOption);
  return {};
}

bool wants_closer_look(const io::Statistics& statistics) {
  if (!io::lacks_slow_calls(statistics)) return false;
  log_info("no call that ended took about " + duration_text(session::kLeastLongest) +
           " or more; once more, with the exact clock, for the slowest");
  return true;
}

ExitStatus run(SlowArguments arguments) {
  if (arguments.io) arguments.trace.own_methods = io::io_filters().size();
  const auto over = parse_seconds(arguments.over);
  if (!over || *over == 0)
    return report(
        Error{ErrorCategory::kUsage, "--over: '" + arguments.over + "' is not a time above 0 (200ms, 0.5, 5m)"});
  const io::SlowLimits limits{
      .over = *over, .rows = arguments.rows, .with_idle = arguments.with_idle, .no_arguments = arguments.no_arguments};
  if (*over >= kLeastCoarse) arguments.trace.wants_closer_look = wants_closer_look;
  return answer_from_trace(
      arguments.trace, "slow",
      [&](session::OptionReader& reader, bool closer) { return give_options(reader, arguments, *over, closer); },
      [&](const io::Statistics& statistics, const std::string& name) {
        return arguments.format == "json" ? io::slow_json(statistics, name, limits) : io::slow_text(statistics, limits);
      });
}

}  // namespace

void add_slow_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<SlowArguments>();
  CLI::App* command = app.add_subcommand("slow", summary_of("slow"));
  add_brief_trace(*command, arguments->trace);
  command->add_option("--over", arguments->over, "calls of this time and more (200ms); without any, the slowest seen")
      ->type_name("TIME");
  command->add_flag("--no-arguments", arguments->no_arguments,
                    "do not read arguments (read where --filter is given: they cost in quick calls too)");
  command->add_flag(
      "--io", arguments->io,
      "show the time in sockets and files separately: the JDK's methods that read and write them are traced too");
  command->add_flag("--cpu-time", arguments->cpu_time,
                    "show the processor time of calls separately (a system call at each entry)");
  command->add_flag("--idle", arguments->with_idle,
                    "list idle calls too (95 % and more of the time asleep or waiting for work); without it they are "
                    "shown by method");
  command->add_option("--format", arguments->format, "text or json")->check(one_of({"text", "json"}));
  add_rows(*command, arguments->rows, "rows of each table (20)");
  command->footer("Example: jtrace slow 4711 --over 200ms --filter 'com.example.*'");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
