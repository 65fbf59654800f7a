// jtrace profile: sampled stacks of a live JVM, without an agent and without stopping it.
#include <algorithm>

#include "base/clock.h"
#include "base/joined.h"
#include "base/time_text.h"
#include "base/utc_text.h"
#include "cli/commands.h"
#include "cli/profile_arguments.h"
#include "cli/profile_output.h"
#include "cli/profile_summary.h"
#include "cli/selector.h"
#include "cli/shipped_output.h"
#include "cli/stop_signals.h"
#include "cli/summaries.h"
#include "cli/units.h"
#include "sampling/hottest.h"
#include "sampling/java_only.h"
#include "sampling/profile_targets.h"
#include "trace/option_keys.h"

namespace jtrace::cli {
namespace {

constexpr double kSampledHz = 99, kStoppedHz = 20;  // without --hz
constexpr double kLeastShare = 0.01;                // of a row, without --rows

double hz_of(const ProfileArguments& arguments, double usual) { return arguments.hz > 0 ? arguments.hz : usual; }

std::chrono::nanoseconds duration_of(const ProfileArguments& arguments) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(parse_seconds(arguments.duration).value_or(0)));
}

sampling::ProfileHead head_of(sampling::ProfileTargets& targets, std::string how) {
  const pid_t pid = targets.opened()[0]->target().process()->pid();
  const std::string label = targets.several() ? "several JVMs" : targets.label_of(pid);
  sampling::ProfileHead head;
  head.process = targets.several() ? "JVMs" : label.substr(0, label.rfind(" ("));
  head.pid = targets.several() ? 0 : pid;
  head.how = std::move(how);
  head.start = realtime_ns();
  head.title = "profile of " + label + ", " + utc_text(static_cast<std::int64_t>(head.start), "%Y-%m-%d %H:%M UTC");
  return head;
}

ProfilePlan plan_of(const ProfileArguments& arguments, const sampling::ProfileTargets& targets,
                    const std::string& format, std::string how) {
  const bool waits = takes_waits(arguments) && !arguments.ptrace;
  return {.format = format,
          .output = arguments.inspect.output,
          .how = std::move(how),
          .shape = {.processes = targets.several(), .waits = waits, .cpu = !arguments.off_cpu},
          .limits = {arguments.rows, arguments.has_rows() ? 0 : kLeastShare}};
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

// "profile hz=99 cpu": of a trace.
std::string parameters_of(double hz, const ProfileArguments& arguments) {
  return std::string(trace::kProfileParameters) + "hz=" + number_text(hz) + " " + kind_of(arguments);
}

// What is written meanwhile.
struct Recording {
  std::unique_ptr<sampling::Sampler> sampler;
  std::unique_ptr<sampling::ProfileFiles> files;
  std::vector<std::string> left_out;  // JVMs; one line each

  std::vector<std::string> not_sampled(const sampling::ProfileTargets& targets) const {
    std::vector<std::string> lines = targets.missing();
    lines.insert(lines.end(), left_out.begin(), left_out.end());
    return lines;
  }
  // Of what is not known before the end, the last file has it.
  Result<> rotate_if_due(const sampling::ProfileTargets& targets) {
    if (!files || !files->is_due()) return {};
    sampling::ProfileEnd end{sampler->events().lost(), sampler->no_wakers(), not_sampled(targets)};
    for (const std::string& line : sampler->events().missing()) end.missing.push_back(line);
    return files->rotate(std::move(end));
  }
};

Result<ExitStatus> run_sampler(sampling::ProfileTargets& targets, const ProfileArguments& arguments,
                               const sampling::SamplerOptions& options, const std::string& format, int stop,
                               Recording& recording) {
  sampling::Sampler& sampler = *recording.sampler;
  sampling::ProfileHead head = head_of(targets, how_sampled(targets.several(), options, sampler.events()));
  head.notes = sampler.events().notes();
  const std::string how = parameters_of(options.events.hz, arguments);
  const auto open_output = [&inspection = *targets.opened()[0],
                            plan = plan_of(arguments, targets, format, how)](const std::string& path) mutable {
    plan.output = path;
    return open_profile_output(inspection, plan);
  };
  JTRACE_ASSIGN_OR_RETURN(recording.files, sampling::ProfileFiles::open(arguments.inspect.output, open_output,
                                                                        rotation_of(arguments), std::move(head)));
  // Samples are stamped with the monotonic clock.
  const ClockAnchor clocks = ClockAnchor::now();
  sampling::Hottest hottest;
  sampling::JavaOnly java_only;
  const bool names_hottest = !arguments.inspect.output.empty();
  JTRACE_ASSIGN_OR_RETURN(const auto summary, sampler.run(stop, [&](const sampling::TakenSample& sample) {
    if (names_hottest && sample.wait == sampling::WaitKind::kNone) hottest.add(sample.thread.walk);
    if (format == "xml") java_only.add(sample.thread.walk);
    return recording.files->output().take(sample, clocks.wall_of(sample.time), targets.label_of(sample.process.pid()));
  }));
  sampling::ProfileEnd end{summary.lost, summary.no_wakers, recording.not_sampled(targets)};
  for (std::string& line : missing_samples(summary)) end.missing.push_back(std::move(line));
  const bool complete = end.lost == 0 && end.missing.empty();
  JTRACE_RETURN_IF_ERROR(recording.files->finish(std::move(end)));
  report_summary(summary, options, sampler.events());
  for (const std::string& line : {hottest.text(), java_only.text()})
    if (!line.empty()) log_info(line);
  if (format == "collapsed" && options.events.switches)
    log_info(
        "the file's numbers are nanoseconds, which collapsed stacks cannot say: a .speedscope.json keeps the unit");
  return complete ? ExitStatus::kOk : ExitStatus::kPartial;
}

// --- by stopping threads

Result<ExitStatus> run_stopping(sampling::ProfileTargets& targets, const ProfileArguments& arguments,
                                const std::string& format, int stop) {
  if (targets.several())
    return fail(ErrorCategory::kUsage, "threads of several JVMs cannot be stopped at once", "name one of them");
  coreinspect::Inspection& inspection = *targets.opened()[0];
  coreinspect::ProfileOptions options;
  options.hz = hz_of(arguments, kStoppedHz);
  options.cpu = !arguments.wall;
  options.duration = duration_of(arguments);
  options.max_share = arguments.max_share / 100;
  options.max_stop = arguments.inspect.max_stop;
  auto head =
      head_of(targets, number_text(options.hz) + " samples a second, threads stopped by ptrace, " + kind_of(arguments));
  ProfilePlan plan = plan_of(arguments, targets, format, parameters_of(options.hz, arguments));
  plan.shape = {};
  JTRACE_ASSIGN_OR_RETURN(const auto output, open_profile_output(inspection, plan));
  const auto weight = static_cast<std::uint64_t>(1e9 / options.hz);
  sampling::JavaOnly java_only;
  JTRACE_ASSIGN_OR_RETURN(const auto summary,
                          coreinspect::run_profile(inspection, options, stop, [&](const auto& snapshot, auto time) {
                            if (format == "xml")
                              for (const auto& thread : snapshot.threads) java_only.add(thread.walk);
                            return output->take(snapshot, time, weight);
                          }));
  head.elapsed = static_cast<std::uint64_t>(summary.elapsed.count());
  head.missing = summary.missing;
  JTRACE_RETURN_IF_ERROR(output->finish(head));
  log_info(stopping_summary(summary));
  if (const std::string line = java_only.text(); !line.empty()) log_info(line);
  for (const std::string& line : summary.missing) log_info("missing: " + line);
  return summary.missing.empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

bool may_stop(const ProfileArguments& arguments, const Error& error) {
  return !arguments.no_fallback && !arguments.off_cpu && arguments.rotate.empty() &&
         error.category != ErrorCategory::kUsage;
}

Result<ExitStatus> sample(sampling::ProfileTargets& targets, const ProfileArguments& arguments,
                          const std::string& format, int stop) {
  if (arguments.ptrace) return run_stopping(targets, arguments, format, stop);
  auto options = sampler_options(arguments);
  Recording recording;
  if (arguments.duration.empty()) options.started = [] { log_info("recording until Ctrl-C"); };
  options.left_out = [&](pid_t pid, const Error& error) {
    recording.left_out.push_back(targets.label_of(pid) + " is not sampled: " + error.message());
    log_info(recording.left_out.back());
  };
  if (targets.all()) options.newcomers = [&targets] { return targets.newcomers(); };
  if (!arguments.rotate.empty()) options.each_round = [&] { return recording.rotate_if_due(targets); };
  auto sampler = sampling::Sampler::open(targets.opened(), options);
  const bool allowed = sampler && (!arguments.wall || (*sampler)->events().with_leaves());
  if (allowed) {
    recording.sampler = std::move(*sampler);
    return run_sampler(targets, arguments, options, format, stop, recording);
  }
  const Error error = sampler ? Error{.category = ErrorCategory::kPermission,
                                      .text = "the kernel gives no stacks of waits (perf_event_paranoid, CAP_PERFMON)"}
                              : sampler.error();
  if (!may_stop(arguments, error) || targets.several()) return fail(error);
  log_info(error.message() + "; threads are stopped by ptrace for each sample instead" +
           (arguments.least.empty() ? "" : ", and --min has no meaning"));
  return run_stopping(targets, arguments, format, stop);
}

Result<sampling::ProfileTargets> open_targets(const ProfileArguments& profile) {
  const std::vector<std::string>& selectors = profile.targets;
  const auto open = [](const std::string& selector) -> Result<sampling::ProfileTargets::Inspection> {
    InspectArguments arguments;
    arguments.target = selector;
    return open_inspection(arguments);
  };
  return !profile.group.empty() || std::any_of(selectors.begin(), selectors.end(), selects_all)
             ? sampling::ProfileTargets::open_all(open, profile.group)
             : sampling::ProfileTargets::open_named(open, selectors);
}

// --ship is for a trace.
Result<> ship_as_trace(ProfileArguments& arguments) {
  if (arguments.ship.empty()) return {};
  if (!arguments.inspect.output.empty()) return fail(ships_instead_of_output());
  if (!arguments.inspect.format.empty() && arguments.inspect.format != "xml")
    return fail(ErrorCategory::kUsage, "--ship sends a trace (--format xml)");
  arguments.inspect.output = "-";
  arguments.inspect.format = "xml";
  return {};
}

ExitStatus run(ProfileArguments& arguments) {
  if (const auto good = ship_as_trace(arguments); !good) return report(good.error());
  const auto format = profile_format(arguments.inspect.format, arguments.inspect.output);
  if (!format) return report(format.error());
  if (const auto good = check_profile(arguments, *format); !good) return report(good.error());
  const auto stop = stop_signals();
  if (!stop) return report(stop.error());
  auto targets = open_targets(arguments);
  if (!targets) return report(targets.error());
  if (*format == "xml" && targets->several())
    return report({.category = ErrorCategory::kUsage,
                   .text = "a trace (.xml) of a profile has one JVM",
                   .help = "another format, which has the JVM as the outermost frame"});
  const auto shipped = ShippedOutput::start(arguments.ship);
  if (!shipped) return report(shipped.error());
  const auto status = sample(*targets, arguments, *format, stop->get());
  if (status) return finish_shipping(*shipped, *status);
  return abandon_shipping(
      *shipped, report(status.error().with_context(
                    "profile of " + (arguments.group.empty() ? joined(arguments.targets) : arguments.group))));
}

}  // namespace

void add_profile_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ProfileArguments>();
  CLI::App* command = app.add_subcommand("profile", summary_of("profile"));
  add_profile_options(*command, *arguments);
  command->footer("Example: jtrace profile 1234 --duration 30 -o app.html");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
