// jtrace profile: sampled stacks of a live JVM, without an agent.
#include <cstdio>

#include "cli/commands.h"
#include "cli/inspect_common.h"
#include "cli/stop_signals.h"
#include "coreinspect/tools/profile.h"
#include "trace/xml_writer.h"

namespace jtrace::cli {
namespace {

struct ProfileArguments {
  InspectArguments inspect;
  double hz = 20, duration = 0, max_share = 2;
  bool wall = false, cpu = false;
};

coreinspect::ProfileOptions options_of(const ProfileArguments& arguments) {
  coreinspect::ProfileOptions options;
  options.hz = arguments.hz;
  options.cpu = !arguments.wall;
  options.duration = std::chrono::nanoseconds(static_cast<std::int64_t>(arguments.duration * 1e9));
  options.max_share = arguments.max_share / 100;
  options.max_stop = std::chrono::milliseconds(arguments.inspect.max_stop_ms);
  return options;
}

Result<coreinspect::ProfileSummary> collapsed(coreinspect::Inspection& inspection, const ProfileArguments& arguments,
                                              int stop, trace::ByteSink& bytes) {
  coreinspect::CollapsedStacks stacks;
  JTRACE_ASSIGN_OR_RETURN(const auto summary, coreinspect::run_profile(inspection, options_of(arguments), stop,
                                                                       [&](const auto& snapshot, std::uint64_t) {
                                                                         stacks.add(snapshot);
                                                                         return Result<>();
                                                                       }));
  JTRACE_RETURN_IF_ERROR(bytes.write(stacks.text()));
  JTRACE_RETURN_IF_ERROR(bytes.finish());
  return summary;
}

Result<coreinspect::ProfileSummary> events(coreinspect::Inspection& inspection, const ProfileArguments& arguments,
                                           int stop, trace::ByteSink& bytes) {
  trace::XmlWriter xml(bytes);
  auto identity = identity_of(inspection, false);
  identity.agent_parameters = "profile hz=" + std::to_string(arguments.hz) + (arguments.wall ? " wall" : " cpu");
  coreinspect::SnapshotEvents writer(inspection, xml, std::move(identity), {}, true);
  JTRACE_RETURN_IF_ERROR(writer.begin());
  JTRACE_ASSIGN_OR_RETURN(
      const auto summary,
      coreinspect::run_profile(inspection, options_of(arguments), stop,
                               [&](const coreinspect::ThreadSnapshot& snapshot, std::uint64_t time) -> Result<> {
                                 JTRACE_RETURN_IF_ERROR(writer.start_trace(time));
                                 JTRACE_RETURN_IF_ERROR(writer.write_threads(snapshot, true, false));
                                 return writer.end_trace(time);
                               }));
  JTRACE_RETURN_IF_ERROR(writer.end());
  JTRACE_RETURN_IF_ERROR(xml.finish());
  return summary;
}

std::string summary_line(const coreinspect::ProfileSummary& summary) {
  const double seconds = static_cast<double>(summary.elapsed.count()) / 1e9;
  char text[300];
  std::snprintf(text, sizeof text,
                "%llu samples in %.1f s (%.1f a second), %llu stacks; the target stood still for %.2f %% of the time, "
                "%.1f ms at most",
                static_cast<unsigned long long>(summary.samples), seconds,
                seconds > 0 ? static_cast<double>(summary.samples) / seconds : 0.0,
                static_cast<unsigned long long>(summary.stacks), summary.share() * 100,
                static_cast<double>(summary.longest.count()) / 1e6);
  std::string line = text;
  if (summary.delayed > 0)
    line += "; " + std::to_string(summary.delayed) + " samples were put off to keep below --max-share";
  if (summary.incomplete > 0) line += "; " + std::to_string(summary.incomplete) + " stacks are not whole";
  if (summary.target_ended) line += "; the target ended";
  return line;
}

ExitStatus run(const ProfileArguments& arguments) {
  if (arguments.wall && arguments.cpu)
    return report({.category = ErrorCategory::kUsage, .text = "--cpu and --wall exclude each other"});
  const auto stop = stop_signals();
  if (!stop) return report(stop.error());
  auto inspection = open_inspection(arguments.inspect);
  if (!inspection) return report(inspection.error());
  auto bytes = open_whole_output(arguments.inspect.output);
  if (!bytes) return report(bytes.error());
  const bool xml = arguments.inspect.format == "xml" ||
                   (arguments.inspect.format.empty() && arguments.inspect.output.ends_with(".xml"));
  const auto summary = xml ? events(**inspection, arguments, stop->get(), **bytes)
                           : collapsed(**inspection, arguments, stop->get(), **bytes);
  if (!summary) return report(summary.error().with_context("profile of " + arguments.inspect.target));
  log_info(summary_line(*summary));
  for (const std::string& line : summary->missing) log_info("missing: " + line);
  return summary->missing.empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

}  // namespace

void add_profile_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ProfileArguments>();
  arguments->inspect.format.clear();
  CLI::App* command = app.add_subcommand("profile", "sample the stacks of a live JVM, without an agent");
  command->add_option("PID", arguments->inspect.target, "process id, or part of a main class")->required();
  command->add_option("-o,--output", arguments->inspect.output, "file to write; - is standard output (the default)");
  command->add_option("--format", arguments->inspect.format, "collapsed, or xml (which a name in .xml gives too)")
      ->check(CLI::IsMember({"collapsed", "xml"}));
  command->add_option("--hz", arguments->hz, "samples a second (20)")->check(CLI::Range(0.01, 1000.0));
  command->add_option("--duration", arguments->duration, "seconds; without it until Ctrl-C")
      ->check(CLI::Range(0.0, 1e6));
  command->add_flag("--cpu", arguments->cpu, "threads that run (the default)");
  command->add_flag("--wall", arguments->wall, "all threads");
  command->add_option("--max-share", arguments->max_share, "share of the time the target may stand still, % (2)")
      ->check(CLI::Range(0.01, 100.0));
  command->add_option("--max-stop,--max-pause", arguments->inspect.max_stop_ms, "longest single stop, ms (200)")
      ->check(CLI::Range(1, 600'000));
  command->footer("Example: jtrace profile 1234 --duration 30 -o app.collapsed");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
