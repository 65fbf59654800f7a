// jtrace profile: sampled stacks of a live JVM, without an agent and without stopping it.
#include <cstdio>

#include "base/clock.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/profile_output.h"
#include "cli/stop_signals.h"
#include "coreinspect/tools/profile.h"
#include "sampling/sampler.h"

namespace jtrace::cli {
namespace {

struct ProfileArguments {
  InspectArguments inspect;
  double hz = 0, max_share = 2;
  std::string duration;  // "": until Ctrl-C
  std::uint32_t stack_bytes = sampling::kStackBytes;
  bool wall = false, cpu = false, ptrace = false, no_fallback = false;
};

constexpr double kSampledHz = 99, kStoppedHz = 20;  // without --hz

double hz_of(const ProfileArguments& arguments, double usual) { return arguments.hz > 0 ? arguments.hz : usual; }

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::chrono::nanoseconds duration_of(const ProfileArguments& arguments) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(parse_seconds(arguments.duration).value_or(0)));
}

sampling::ProfileHead head_of(const coreinspect::Inspection& inspection, std::string how) {
  const target::Process& process = *inspection.target().process();
  sampling::ProfileHead head;
  head.process = process.comm();
  head.pid = process.pid();
  head.title = "profile of " + std::to_string(head.pid);
  head.how = std::move(how);
  head.start = realtime_ns();
  return head;
}

// --- by the kernel's samples

sampling::SamplerOptions sampler_options(const ProfileArguments& arguments) {
  sampling::SamplerOptions options;
  options.events.hz = hz_of(arguments, kSampledHz);
  options.events.stack_bytes = arguments.stack_bytes;
  options.duration = duration_of(arguments);
  return options;
}

std::string share(std::uint64_t part, std::uint64_t all) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%",
                all == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(all));
  return text;
}

void report_summary(const sampling::SamplerSummary& summary, const sampling::PerfEvents& events) {
  char text[200];
  std::snprintf(text, sizeof text, "%llu samples in %.1f s, %llu lost; the target was not stopped",
                static_cast<unsigned long long>(summary.samples), static_cast<double>(summary.elapsed.count()) / 1e9,
                static_cast<unsigned long long>(summary.lost));
  std::string line = text;
  if (summary.samples > 0) {
    std::snprintf(text, sizeof text, "; %.0f us to decode each",
                  static_cast<double>(summary.decoding.count()) / 1e3 / static_cast<double>(summary.samples));
    line += text;
  } else {
    line += "; it used no CPU time: jtrace stack shows where its threads are";
  }
  if (summary.target_ended) line += "; the target ended";
  log_info(line);
  for (const auto& [cause, count] : summary.cut)
    log_info(std::to_string(count) + " stacks are incomplete (" + share(count, summary.samples) + "): " + cause);
  if (summary.throttled > 0)
    log_info("the kernel suspended an event " + std::to_string(summary.throttled) + " times: less was sampled then");
  for (const std::string& note : events.notes()) log_info(note);
}

Result<ExitStatus> run_sampler(coreinspect::Inspection& inspection, sampling::Sampler& sampler,
                               const ProfileArguments& arguments, const std::string& format, int stop) {
  const std::string hz = number(hz_of(arguments, kSampledHz));
  auto head = head_of(inspection, hz + " samples a second of CPU time, " + sampler.events().description());
  JTRACE_ASSIGN_OR_RETURN(const auto output, open_profile_output(inspection, format, arguments.inspect.output,
                                                                 "profile hz=" + hz + " cpu"));
  // Samples are stamped with the monotonic clock.
  const ClockAnchor clocks = ClockAnchor::now();
  coreinspect::ThreadSnapshot snapshot;
  JTRACE_ASSIGN_OR_RETURN(const auto summary,
                          sampler.run(stop, [&](const auto& report, std::uint64_t time, std::uint64_t weight) {
                            snapshot.threads.assign(1, report);
                            return output->take(snapshot, clocks.wall_of(time), weight);
                          }));
  head.elapsed = static_cast<std::uint64_t>(summary.elapsed.count());
  head.lost = summary.lost;
  JTRACE_RETURN_IF_ERROR(output->finish(head));
  report_summary(summary, sampler.events());
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
    line += "; " + std::to_string(summary.delayed) + " samples were put off to keep below --max-share";
  if (summary.incomplete > 0) line += "; " + std::to_string(summary.incomplete) + " stacks are incomplete";
  if (summary.target_ended) line += "; the target ended";
  return line;
}

Result<ExitStatus> run_stopping(coreinspect::Inspection& inspection, const ProfileArguments& arguments,
                                const std::string& format, int stop) {
  coreinspect::ProfileOptions options;
  options.hz = hz_of(arguments, kStoppedHz);
  options.cpu = !arguments.wall;
  options.duration = duration_of(arguments);
  options.max_share = arguments.max_share / 100;
  options.max_stop = std::chrono::milliseconds(arguments.inspect.max_stop_ms);
  const std::string kind = arguments.wall ? " wall" : " cpu";
  auto head = head_of(inspection, number(options.hz) + " samples a second, threads stopped by ptrace," + kind);
  JTRACE_ASSIGN_OR_RETURN(const auto output, open_profile_output(inspection, format, arguments.inspect.output,
                                                                 "profile hz=" + number(options.hz) + kind));
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

Result<ExitStatus> sample(coreinspect::Inspection& inspection, const ProfileArguments& arguments,
                          const std::string& format, int stop) {
  if (arguments.wall || arguments.ptrace) return run_stopping(inspection, arguments, format, stop);
  auto sampler = sampling::Sampler::open(inspection, sampler_options(arguments));
  if (sampler) return run_sampler(inspection, **sampler, arguments, format, stop);
  const Error& error = sampler.error();
  if (arguments.no_fallback || error.category == ErrorCategory::kUsage || inspection.target().process() == nullptr)
    return fail(error);
  log_info(error.message() + "; threads are stopped by ptrace for each sample instead");
  return run_stopping(inspection, arguments, format, stop);
}

Result<> check(const ProfileArguments& arguments) {
  if (arguments.wall && arguments.cpu) return fail(ErrorCategory::kUsage, "--cpu and --wall exclude each other");
  if (arguments.stack_bytes % 8 != 0 || arguments.stack_bytes < 512 ||
      arguments.stack_bytes > sampling::kMostStackBytes)
    return fail(ErrorCategory::kUsage,
                "--stack-size is a multiple of 8 from 512 to " + std::to_string(sampling::kMostStackBytes) + " bytes");
  return {};
}

ExitStatus run(const ProfileArguments& arguments) {
  if (const auto good = check(arguments); !good) return report(good.error());
  const auto format = profile_format(arguments.inspect.format, arguments.inspect.output);
  if (!format) return report(format.error());
  const auto stop = stop_signals();
  if (!stop) return report(stop.error());
  auto inspection = open_inspection(arguments.inspect);
  if (!inspection) return report(inspection.error());
  const auto status = sample(**inspection, arguments, *format, stop->get());
  return status ? *status : report(status.error().with_context("profile of " + arguments.inspect.target));
}

}  // namespace

void add_profile_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ProfileArguments>();
  arguments->inspect.format.clear();
  arguments->inspect.output.clear();
  CLI::App* command = app.add_subcommand("profile", "sample the stacks of a live JVM, without an agent");
  command->add_option("PID", arguments->inspect.target, "process id, or part of a main class")->required();
  command->add_option(
      "-o,--output", arguments->inspect.output,
      "file to write: .collapsed, .speedscope.json, .pb.gz (pprof), .html, .svg, .xml; without it a table; - is "
      "collapsed");
  command->add_option("--format", arguments->inspect.format, "what to write, whatever the name of the file")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kProfileFormats), std::end(kProfileFormats))));
  command->add_option("--hz", arguments->hz, "samples per second (99; 20 if threads are stopped)")
      ->check(CLI::Range(0.01, 1e6));
  command->add_option("--duration", arguments->duration, "stop after this time (30, 500ms, 5m); without it at Ctrl-C")
      ->type_name("TIME")
      ->check([](const std::string& text) {
        return parse_seconds(text) ? std::string() : "'" + text + "' is not a time (30, 500ms, 5m)";
      });
  command->add_flag("--cpu", arguments->cpu, "threads that run (the default)");
  command->add_flag("--wall", arguments->wall, "all threads, each stopped for a moment for each sample");
  command->add_option("--stack-size", arguments->stack_bytes, "bytes of a stack that are copied (32768)");
  command->add_flag("--ptrace", arguments->ptrace, "stop threads for each sample, without perf events");
  command->add_flag("--no-fallback", arguments->no_fallback, "fail if perf events are not allowed");
  command
      ->add_option("--max-share", arguments->max_share,
                   "if threads are stopped: largest share of the time for which the target is stopped, % (2)")
      ->check(CLI::Range(0.01, 100.0));
  command->add_option("--max-stop,--max-pause", arguments->inspect.max_stop_ms, "longest single stop, ms (200)")
      ->check(CLI::Range(1, 600'000));
  command->footer("Example: jtrace profile 1234 --duration 30 -o app.html");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
