// hsperf poll: counters at a fixed interval, as a series of traces in XML, or as CSV or JSON lines.
#include <map>
#include <memory>

#include "base/strings.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/hsperf_output.h"
#include "cli/one_of.h"
#include "cli/output_name.h"
#include "cli/overwriting.h"
#include "cli/shipped_output.h"
#include "perfdata/gc_causes.h"
#include "perfdata/poller.h"
#include "session/counter_head.h"
#include "trace/io/compress_sink.h"
#include "trace/option_keys.h"

namespace jtrace::cli {
namespace {

struct PollArguments {
  SourceArguments sources;
  std::chrono::nanoseconds interval = std::chrono::seconds(1), gc_interval = std::chrono::milliseconds(10), duration{0};
  std::uint64_t max_size = 0;  // 0: no limit
  std::string format, output = "-", ship, filter;
  std::uint64_t count = 0;
  bool full = false, show_secrets = false, fragments = false, strict = false, doctype = false, no_gc = false;
};

// Without --format the output's name decides; a name that says another format is refused.
Result<std::string> format_name(const PollArguments& arguments) {
  const std::string_view plain = trace::io::without_compression(arguments.output);
  if (plain != arguments.output) return fail(ErrorCategory::kUsage, "poll does not compress: -o " + std::string(plain));
  const std::map<std::string, CLI::Validator> names = {{"csv", named_like("CSV", {".csv"})},
                                                       {"jsonl", named_like("JSON lines", {".jsonl", ".json"})},
                                                       {"xml", named_like("a trace in XML", {".xml", ".trcxml"})}};
  std::string format = arguments.format;
  if (format.empty()) format = plain.ends_with(".csv") ? "csv" : plain.ends_with(".jsonl") ? "jsonl" : "xml";
  std::string path = arguments.output;
  if (std::string wrong = names.at(format)(path); !wrong.empty()) return fail(ErrorCategory::kUsage, std::move(wrong));
  return format;
}

perfdata::PollPlan plan_of(const PollArguments& arguments) {
  perfdata::PollPlan plan;
  plan.count = arguments.count;
  plan.interval = arguments.interval;
  plan.duration = arguments.duration;
  if (arguments.format != "xml" || arguments.no_gc) return plan;
  plan.pause_interval = arguments.gc_interval;
  if (plan.pause_interval >= plan.interval) plan.pause_interval = std::chrono::nanoseconds(0);
  return plan;
}

Result<perfdata::PollFormat> format_of(const PollArguments& arguments, const perfdata::PollPlan& plan) {
  perfdata::PollFormat format{.full = arguments.full, .show_secrets = arguments.show_secrets};
  JTRACE_ASSIGN_OR_RETURN(format.filter, parse_filter(arguments.filter));
  const auto ns = [](std::chrono::nanoseconds time) { return std::to_string(time.count()); };
  format.options = {{std::string(trace::kIntervalKey), ns(plan.interval)},
                    {std::string(trace::kFullKey), arguments.full ? "true" : "false"}};
  if (plan.pause_interval.count() != 0) format.options.emplace_back(trace::kPauseIntervalKey, ns(plan.pause_interval));
  if (!arguments.filter.empty()) format.options.emplace_back(trace::kCounterFilterKey, arguments.filter);
  return format;
}

Result<std::unique_ptr<perfdata::PollOutput>> output_of(const PollArguments& arguments, trace::ByteSink& bytes,
                                                        const perfdata::PollPlan& plan) {
  JTRACE_ASSIGN_OR_RETURN(perfdata::PollFormat format, format_of(arguments, plan));
  if (arguments.format == "csv") return row_poll_output(bytes, perfdata::RowFormat::kCsv, std::move(format));
  if (arguments.format == "jsonl") return row_poll_output(bytes, perfdata::RowFormat::kJsonLines, std::move(format));
  trace::XmlWriterOptions xml;
  if (arguments.fragments) xml.form = trace::XmlForm::kFragments;
  if (arguments.strict) xml.form = trace::XmlForm::kStrictFragments;
  if (arguments.doctype) xml.doctype = "jtrace.dtd";
  return xml_poll_output(
      bytes, xml, std::move(format),
      session::counter_head("interval=" + duration_text(static_cast<std::uint64_t>(arguments.interval.count())),
                            arguments.show_secrets));
}

std::string summary_line(const perfdata::PollSummary& summary) {
  std::string text = counted(summary.samples, "sample");
  if (summary.pauses + summary.missed != 0)
    text += ", " + counted(summary.pauses, "pause") + ", " + std::to_string(summary.missed) + " missed";
  if (summary.skipped != 0) text += ", " + counted(summary.skipped, "sample") + " too late and left out";
  if (summary.unstable != 0) text += ", " + std::to_string(summary.unstable) + " unstable";
  return text;
}

Result<perfdata::PollSummary> poll(const PollArguments& arguments, std::vector<perfdata::CounterSource> sources) {
  const perfdata::PollPlan plan = plan_of(arguments);
  for (const perfdata::CounterSource& source : sources)
    JTRACE_RETURN_IF_ERROR(refuse_overwriting(arguments.output, {source.name()}));
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd stop, stop_signals());
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_output(arguments.output, arguments.max_size));
  JTRACE_ASSIGN_OR_RETURN(const auto output, output_of(arguments, *bytes, plan));
  perfdata::Poller poller(std::move(sources), *output, [](const std::string& line) { log_info(line); });
  auto done = poller.run(plan, stop.get());
  if (done || !trace::is_full(done.error()) || bytes->bytes_written() == 0) return done;
  Error partial = std::move(done).error();
  partial.category = ErrorCategory::kPartial;  // what was written is whole
  return fail(std::move(partial));
}

ExitStatus run_poll(PollArguments& arguments) {
  ExitStatus status = ExitStatus::kOk;
  if (!arguments.ship.empty() && arguments.output != "-") return report(ships_instead_of_output());
  auto format = format_name(arguments);
  if (!format) return report(format.error());
  arguments.format = std::move(*format);
  if (!arguments.ship.empty() && (arguments.format != "xml" || arguments.fragments || arguments.strict))
    return report({.category = ErrorCategory::kUsage, .text = "--ship sends whole documents of XML"});
  auto sources = open_all(arguments.sources, status);
  if (sources.empty()) return status;
  if (const auto some = check_matches(sources, arguments.filter); !some) return report(some.error());
  for (const perfdata::CounterSource& source : sources) {
    print_warnings(source);
    if (arguments.format == "xml" && perfdata::counts_phases(source.first()))
      log_warning(source.name() + ": no pauses are written: " + std::string(perfdata::kCountsPhases));
  }
  const auto shipped = ShippedOutput::start(arguments.ship);
  if (!shipped) return report(shipped.error());
  auto summary = poll(arguments, std::move(sources));
  if (!summary) return abandon_shipping(*shipped, report(summary.error()));
  log_info(summary_line(*summary));
  return finish_shipping(*shipped, status);
}

}  // namespace

void add_hsperf_poll(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<PollArguments>();
  arguments->sources.mapped = true;
  auto* command = app.add_subcommand("poll", "counters at a fixed interval, as XML, CSV or JSON lines");
  add_source_arguments(*command, arguments->sources, true);
  add_time(*command, "-i,--interval", arguments->interval, "time between samples (1s); a number alone is ms",
           {.plain = PlainUnit::kMilliseconds, .least = std::chrono::microseconds(10)});
  command->add_option("-n,--count", arguments->count, "number of samples (default: until the JVM ends)");
  add_time(*command, "-d,--duration", arguments->duration,
           "stop after this time (30s, 5m); without it at the JVM's end");
  command->add_option("-o,--output", arguments->output, "file; - is standard output")->capture_default_str();
  add_ship_option(*command, arguments->ship);
  command->add_option("--format", arguments->format, "default: what the output is called (.csv, .jsonl), or xml")
      ->check(one_of({"xml", "csv", "jsonl"}));
  add_counters_option(*command, arguments->filter);
  command->add_flag("--full", arguments->full, "every counter in every sample, not only what changed");
  add_time(*command, "--gc-interval", arguments->gc_interval,
           "xml: how often to look for pauses (10ms); a number alone is ms", kIntervalRange);
  command->add_flag("--no-gc", arguments->no_gc, "xml: look for pauses only at the samples");
  add_size(*command, "--max-size", arguments->max_size, "stop at this file size (default: no limit)");
  command->add_flag("--fragments", arguments->fragments, "xml: elements without a root");
  command->add_flag("--strict-dtd", arguments->strict, "xml: fragments valid against the original trace.dtd");
  command->add_flag("--doctype", arguments->doctype, "xml: write a DOCTYPE");
  command->add_flag("--show-secrets", arguments->show_secrets, "do not mask what looks like a password");
  command->footer("example: hsperf poll 4711 --interval 500ms --count 20 -o counters.xml");
  command->callback([arguments, &status] { status = run_poll(*arguments); });
}

}  // namespace jtrace::cli
