// jtrace profile: sampled stacks of a live JVM, without an agent and without stopping it.
#include <cstdio>

#include "base/clock.h"
#include "base/joined.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/profile_files.h"
#include "cli/profile_targets.h"
#include "cli/stop_signals.h"
#include "cli/units.h"
#include "coreinspect/tools/profile.h"
#include "sampling/sampler.h"

namespace jtrace::cli {
namespace {

struct ProfileArguments {
  std::vector<std::string> targets;
  InspectArguments inspect;
  double hz = 0, max_share = 2;
  std::string duration;  // "": until Ctrl-C
  std::string least;     // "": 1 ms
  std::string rotate, keep;
  std::uint64_t stack_bytes = sampling::kStackBytes;
  bool wall = false, cpu = false, off_cpu = false, ptrace = false, no_fallback = false;
};

constexpr double kSampledHz = 99, kStoppedHz = 20;  // without --hz

double hz_of(const ProfileArguments& arguments, double usual) { return arguments.hz > 0 ? arguments.hz : usual; }

bool takes_waits(const ProfileArguments& arguments) { return arguments.wall || arguments.off_cpu; }
const char* kind_of(const ProfileArguments& arguments) {
  return arguments.off_cpu ? "off-cpu" : arguments.wall ? "wall" : "cpu";
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::chrono::nanoseconds duration_of(const ProfileArguments& arguments) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(parse_seconds(arguments.duration).value_or(0)));
}

sampling::ProfileHead head_of(const ProfileTargets& targets, std::string how) {
  const target::Process& process = *targets.opened()[0]->target().process();
  sampling::ProfileHead head;
  head.process = targets.several() ? "JVMs" : process.comm();
  head.pid = targets.several() ? 0 : process.pid();
  head.title = targets.several() ? "profile of several JVMs" : "profile of " + std::to_string(head.pid);
  head.how = std::move(how);
  head.start = realtime_ns();
  return head;
}

ProfilePlan plan_of(const ProfileArguments& arguments, const ProfileTargets& targets, const std::string& format,
                    std::string how) {
  const bool waits = takes_waits(arguments) && !arguments.ptrace;
  return {.format = format,
          .output = arguments.inspect.output,
          .how = std::move(how),
          .shape = {.processes = targets.several(), .waits = waits, .cpu = !arguments.off_cpu}};
}

// --- by the kernel's samples

sampling::SamplerOptions sampler_options(const ProfileArguments& arguments) {
  sampling::SamplerOptions options;
  options.events.hz = hz_of(arguments, kSampledHz);
  options.events.stack_bytes = static_cast<std::uint32_t>(arguments.stack_bytes);
  options.events.ticks = !arguments.off_cpu;
  options.events.switches = takes_waits(arguments);
  options.duration = duration_of(arguments);
  if (const auto least = parse_seconds(arguments.least)) options.least = std::chrono::nanoseconds(*least);
  return options;
}

// What is sampled and how, for a title.
std::string how_of(bool several, const sampling::SamplerOptions& options, const sampling::PerfEvents& events) {
  std::string how;
  if (options.events.ticks) how = number(options.events.hz) + " samples a second of CPU time";
  if (options.events.switches) {
    how += how.empty() ? "" : " and ";
    how += "waits of " + number(static_cast<double>(options.least.count()) / 1e6) + " ms and more, in ns";
  }
  return how + ", " + events.description() + (several ? ", several JVMs" : "");
}

std::string share(std::uint64_t part, std::uint64_t all) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%",
                all == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(all));
  return text;
}

std::string text_of(const char* format, double value) {
  char text[120];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
double millis(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; }

void report_waits(const sampling::SamplerSummary& summary, const sampling::SamplerOptions& options) {
  if (summary.brief > 0)
    log_info(counted(summary.brief, "wait") + " " + was_were(summary.brief) + " shorter than " +
             number(millis(options.least)) +
             " ms (--min): " + text_of("%.1f ms in all, not shown", millis(summary.brief_time)));
  if (summary.stacks.missing() > 0)
    log_info(std::to_string(summary.stacks.missing()) +
             " waits have no stack: they began before the recording, or the copy was lost or not allowed");
  if (summary.broken > 0)
    log_info(std::to_string(summary.broken) + " switches of threads were lost: the waits that they began are missing");
}

void report_summary(const sampling::SamplerSummary& summary, const sampling::SamplerOptions& options,
                    const sampling::PerfEvents& events) {
  const bool waits = options.events.switches;
  const std::uint64_t samples = summary.stacks.all();
  std::string line = std::to_string(samples) + (waits ? " waits and samples in " : " samples in ") +
                     text_of("%.1f s, ", millis(summary.elapsed) / 1e3) + std::to_string(summary.lost) +
                     " lost; the target was not stopped";
  if (summary.jvms != 1) line += "; " + std::to_string(summary.jvms) + " JVMs";
  if (samples > 0)
    line += text_of("; %.0f us to decode each", millis(summary.decoding) * 1e3 / static_cast<double>(samples));
  else if (!waits) line += "; it used no CPU time: jtrace stack shows where its threads are";
  if (summary.target_ended) line += "; the target ended";
  log_info(line);
  for (const auto& [cause, count] : summary.stacks.cut())
    log_info(counted(count, "stack") + " " + is_are(count) + " incomplete (" + share(count, samples) + "): " + cause);
  if (summary.unnamed > 0)
    log_info(std::to_string(summary.unnamed) +
             " samples are of virtual threads that could not be told: they had moved on, or their stack was cut");
  report_waits(summary, options);
  if (summary.throttled > 0)
    log_info("the kernel suspended an event " + counted(summary.throttled, "time") + ": less was sampled then");
  for (const std::string& note : events.notes()) log_info(note);
}

Rotation rotation_of(const ProfileArguments& arguments) {
  return {.every = parse_seconds(arguments.rotate).value_or(0), .keep = parse_seconds(arguments.keep).value_or(0)};
}

Result<ExitStatus> run_sampler(ProfileTargets& targets, const ProfileArguments& arguments,
                               const sampling::SamplerOptions& options, const std::string& format, int stop,
                               sampling::Sampler& sampler, std::unique_ptr<ProfileFiles>& files) {
  const std::string how = "profile hz=" + number(options.events.hz) + " " + kind_of(arguments);
  JTRACE_ASSIGN_OR_RETURN(
      files, ProfileFiles::open(*targets.opened()[0], plan_of(arguments, targets, format, how), rotation_of(arguments),
                                head_of(targets, how_of(targets.several(), options, sampler.events()))));
  // Samples are stamped with the monotonic clock.
  const ClockAnchor clocks = ClockAnchor::now();
  JTRACE_ASSIGN_OR_RETURN(const auto summary, sampler.run(stop, [&](const sampling::TakenSample& sample) {
    return files->output().take(sample, clocks.wall_of(sample.time), targets.label_of(sample.process.pid()));
  }));
  JTRACE_RETURN_IF_ERROR(files->finish(summary.lost));
  report_summary(summary, options, sampler.events());
  return summary.lost > 0 ? ExitStatus::kPartial : ExitStatus::kOk;
}

// --- by stopping threads

std::string stopping_summary(const coreinspect::ProfileSummary& summary) {
  const double seconds = static_cast<double>(summary.elapsed.count()) / 1e9;
  char text[300];
  std::snprintf(text, sizeof text,
                "%llu samples in %.1f s (%.1f a second), %llu stacks; the target was stopped for %.2f %% of the time, "
                "%.1f ms at most",
                static_cast<unsigned long long>(summary.samples), seconds,
                seconds > 0 ? static_cast<double>(summary.samples) / seconds : 0.0,
                static_cast<unsigned long long>(summary.stacks), summary.share() * 100,
                static_cast<double>(summary.longest.count()) / 1e6);
  std::string line = text;
  if (summary.delayed > 0)
    line += "; " + counted(summary.delayed, "sample") + " " + was_were(summary.delayed) +
            " put off to keep below --max-share";
  if (summary.incomplete > 0)
    line += "; " + counted(summary.incomplete, "stack") + " " + is_are(summary.incomplete) + " incomplete";
  if (summary.target_ended) line += "; the target ended";
  return line;
}

Result<ExitStatus> run_stopping(ProfileTargets& targets, const ProfileArguments& arguments, const std::string& format,
                                int stop) {
  if (targets.several())
    return fail(ErrorCategory::kUsage, "threads of several JVMs cannot be stopped at once", "name one of them");
  coreinspect::Inspection& inspection = *targets.opened()[0];
  coreinspect::ProfileOptions options;
  options.hz = hz_of(arguments, kStoppedHz);
  options.cpu = !arguments.wall;
  options.duration = duration_of(arguments);
  options.max_share = arguments.max_share / 100;
  options.max_stop = arguments.inspect.max_stop;
  const std::string kind = std::string(" ") + kind_of(arguments);
  auto head = head_of(targets, number(options.hz) + " samples a second, threads stopped by ptrace," + kind);
  ProfilePlan plan = plan_of(arguments, targets, format, "profile hz=" + number(options.hz) + kind);
  plan.shape = {};
  JTRACE_ASSIGN_OR_RETURN(const auto output, open_profile_output(inspection, plan));
  const auto weight = static_cast<std::uint64_t>(1e9 / options.hz);
  JTRACE_ASSIGN_OR_RETURN(const auto summary,
                          coreinspect::run_profile(inspection, options, stop, [&](const auto& snapshot, auto time) {
                            return output->take(snapshot, time, weight);
                          }));
  head.elapsed = static_cast<std::uint64_t>(summary.elapsed.count());
  JTRACE_RETURN_IF_ERROR(output->finish(head));
  log_info(stopping_summary(summary));
  for (const std::string& line : summary.missing) log_info("missing: " + line);
  return summary.missing.empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

bool may_stop(const ProfileArguments& arguments, const Error& error) {
  return !arguments.no_fallback && !arguments.off_cpu && arguments.rotate.empty() &&
         error.category != ErrorCategory::kUsage;
}

Result<ExitStatus> sample(ProfileTargets& targets, const ProfileArguments& arguments, const std::string& format,
                          int stop) {
  if (arguments.ptrace) return run_stopping(targets, arguments, format, stop);
  auto options = sampler_options(arguments);
  if (arguments.duration.empty()) options.started = [] { log_info("recording until Ctrl-C"); };
  options.left_out = [&targets](pid_t pid, const Error& error) {
    log_info(targets.label_of(pid) + " is not sampled: " + error.message());
  };
  if (targets.all()) options.newcomers = [&targets] { return targets.newcomers(); };
  std::unique_ptr<ProfileFiles> files;
  const sampling::Sampler* running = nullptr;
  if (!arguments.rotate.empty())
    options.each_round = [&] {
      return files && files->is_due() ? files->rotate(running->events().lost()) : Result<>();
    };
  auto sampler = sampling::Sampler::open(targets.opened(), options);
  const bool allowed = sampler && (!arguments.wall || (*sampler)->events().with_leaves());
  if (sampler) running = sampler->get();
  if (allowed) return run_sampler(targets, arguments, options, format, stop, **sampler, files);
  const Error error = sampler ? Error{.category = ErrorCategory::kPermission,
                                      .text = "the kernel gives no stacks of waits (perf_event_paranoid, CAP_PERFMON)"}
                              : sampler.error();
  if (!may_stop(arguments, error) || targets.several()) return fail(error);
  log_info(error.message() + "; threads are stopped by ptrace for each sample instead" +
           (arguments.least.empty() ? "" : ", and --min has no meaning"));
  return run_stopping(targets, arguments, format, stop);
}

Result<> check_kind(const ProfileArguments& arguments) {
  if (arguments.wall + arguments.cpu + arguments.off_cpu > 1)
    return fail(ErrorCategory::kUsage, "--cpu, --wall and --off-cpu exclude each other");
  if (arguments.off_cpu && arguments.ptrace)
    return fail(ErrorCategory::kUsage, "--off-cpu needs perf events: --ptrace cannot tell how long a wait is",
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
  if (format == "xml" && takes_waits(arguments) && !arguments.ptrace)
    return fail(ErrorCategory::kUsage, "a trace (.xml) of a profile has no waits",
                "--wall --ptrace writes what all threads do at each sample; jtrace attach --events "
                "monitors,sleeps,parks records waits as events; or another format");
  return {};
}

Result<> check(const ProfileArguments& arguments, const std::string& format) {
  JTRACE_RETURN_IF_ERROR(check_kind(arguments));
  JTRACE_RETURN_IF_ERROR(check_files(arguments, format));
  if (arguments.stack_bytes % 8 != 0 || arguments.stack_bytes < 512 ||
      arguments.stack_bytes > sampling::kMostStackBytes)
    return fail(ErrorCategory::kUsage,
                "--stack-size is a multiple of 8 from 512 to " + std::to_string(sampling::kMostStackBytes) + " bytes");
  return {};
}

ExitStatus run(const ProfileArguments& arguments) {
  const auto format = profile_format(arguments.inspect.format, arguments.inspect.output);
  if (!format) return report(format.error());
  if (const auto good = check(arguments, *format); !good) return report(good.error());
  const auto stop = stop_signals();
  if (!stop) return report(stop.error());
  auto targets = ProfileTargets::open(arguments.targets);
  if (!targets) return report(targets.error());
  if (*format == "xml" && targets->several())
    return report({.category = ErrorCategory::kUsage,
                   .text = "a trace (.xml) of a profile has one JVM",
                   .help = "another format, which has the JVM as the outermost frame"});
  const auto status = sample(*targets, arguments, *format, stop->get());
  return status ? *status : report(status.error().with_context("profile of " + joined(arguments.targets)));
}

}  // namespace

void add_profile_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ProfileArguments>();
  arguments->inspect.format.clear();
  arguments->inspect.output.clear();
  CLI::App* command = app.add_subcommand("profile", "sample the stacks of a live JVM, without an agent");
  command
      ->add_option(
          "PID", arguments->targets,
          "process id, or part of a main class; several, or all: each JVM is the outermost frame of its stacks")
      ->required();
  command->add_option(
      "-o,--output", arguments->inspect.output,
      "file to write: .collapsed, .speedscope.json, .pb.gz (pprof), .jfr, .html, .svg, .xml; without it a table; - is "
      "collapsed");
  command->add_option("--format", arguments->inspect.format, "what to write, whatever the name of the file")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kProfileFormats), std::end(kProfileFormats))));
  command->add_option("--hz", arguments->hz, "samples per second (99; 20 if threads are stopped)")
      ->check(CLI::Range(0.01, 1e6));
  command->add_option("--duration", arguments->duration, "stop after this time (30s, 5m); without it at Ctrl-C")
      ->type_name("TIME")
      ->check(is_time({.least = std::chrono::milliseconds(1)}));
  command->add_option("--rotate", arguments->rotate, "begin a new file at this interval; its time stands in its name")
      ->type_name("TIME")
      ->check(is_time());
  command->add_option("--keep", arguments->keep, "with --rotate: remove files that are older than this")
      ->type_name("TIME")
      ->check(is_time());
  command->add_flag("--cpu", arguments->cpu, "threads that run (the default)");
  command->add_flag("--off-cpu", arguments->off_cpu, "waits: where, for what and how long");
  command->add_flag("--wall", arguments->wall, "both: CPU time and waits");
  command->add_option("--min", arguments->least, "shorter waits are only counted (1ms)")
      ->type_name("TIME")
      ->check(is_time());
  add_size(*command, "--stack-size", arguments->stack_bytes, "how much of a stack is copied (32K)");
  command->add_flag("--ptrace", arguments->ptrace, "stop threads for each sample, without perf events");
  command->add_flag("--no-fallback", arguments->no_fallback, "fail if perf events are not allowed");
  command
      ->add_option("--max-share", arguments->max_share,
                   "if threads are stopped: largest share of the time for which the target is stopped, % (2)")
      ->check(CLI::Range(0.01, 100.0));
  add_max_stop(*command, arguments->inspect, "longest single stop (200ms)");
  command->footer("Example: jtrace profile 1234 --duration 30 -o app.html");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
