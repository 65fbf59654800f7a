// hsperf snap: all counters at one moment.
#include <memory>

#include "base/json.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/hsperf_output.h"
#include "cli/naming_arguments.h"
#include "cli/one_of.h"
#include "cli/overwriting.h"
#include "perfdata/named_page.h"
#include "perfdata/openmetrics.h"
#include "perfdata/poll_output.h"
#include "perfdata/snapshot_text.h"
#include "session/counter_head.h"

namespace jtrace::cli {
namespace {

struct SnapArguments {
  SourceArguments sources;
  std::string filter;
  std::string format = "text";
  perfdata::TextOptions text;
  bool fragments = false, strict = false;
  NamingArguments naming;
  std::string output = "-";
};

void append_json(std::string& out, const perfdata::CounterSource& source, const perfdata::CounterTable& table,
                 const perfdata::TextOptions& options) {
  JsonWriter json(out);
  begin_json_view(json, "counters", source, source.first());
  json.key("data").begin_array();
  perfdata::append_json_rows(json, table, source.first(), options);
  json.end_array().end_object();
  out += '\n';
}

void append_metrics(std::string& out, const perfdata::CounterSource& source, const SnapArguments& arguments,
                    const perfdata::NameFilter& filter) {
  // For the user's own terminal: with arguments, but without secrets.
  perfdata::MetricsWriter writer({.filter = filter, .arguments = true, .show_secrets = arguments.text.show_secrets});
  writer.add(source.first(), source.pid());
  writer.append(out, {&source.first()}, perfdata::MetricsFormat::kOpenMetrics);
}

// A snapshot is a series of one sample.
Result<> print_xml(perfdata::CounterSource& source, const SnapArguments& arguments,
                   const perfdata::NameFilter& filter) {
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_whole_output(arguments.output));
  trace::XmlWriterOptions xml;
  xml.single_trace = !arguments.fragments;
  if (arguments.fragments) xml.form = trace::XmlForm::kFragments;
  if (arguments.strict) xml.form = trace::XmlForm::kStrictFragments;
  perfdata::PollFormat format{.show_secrets = arguments.text.show_secrets, .filter = filter, .pauses = false};
  const auto output = perfdata::xml_poll_output(*bytes, xml, std::move(format),
                                                session::counter_head("snap", arguments.text.show_secrets));
  JTRACE_RETURN_IF_ERROR(output->begin(0, source));
  JTRACE_RETURN_IF_ERROR(output->sample(0, source.first()));
  JTRACE_RETURN_IF_ERROR(output->ended(0, false));
  return output->finish();
}

void append_snapshot(std::string& out, const perfdata::CounterSource& source, const SnapArguments& arguments,
                     const perfdata::NameFilter& filter) {
  const perfdata::CounterTable table(source.first(), filter);
  if (arguments.format == "json") append_json(out, source, table, arguments.text);
  else if (arguments.format == "openmetrics") append_metrics(out, source, arguments, filter);
  else if (arguments.format == "csv") perfdata::append_csv(out, table, source.first(), arguments.text);
  else perfdata::append_text(out, table, source.first(), arguments.text);
}

Result<> print_counters(std::vector<perfdata::CounterSource>& sources, const SnapArguments& arguments) {
  JTRACE_ASSIGN_OR_RETURN(const perfdata::NameFilter filter, parse_filter(arguments.filter));
  const bool several = sources.size() > 1;
  if (arguments.format == "xml") {
    if (several && arguments.output != "-")
      return fail(ErrorCategory::kUsage, "a document of XML has one JVM: name one, or use hsperf poll --count 1");
    for (perfdata::CounterSource& source : sources) JTRACE_RETURN_IF_ERROR(print_xml(source, arguments, filter));
    return {};
  }
  JTRACE_ASSIGN_OR_RETURN(const auto file, open_whole_output(arguments.output));
  for (const perfdata::CounterSource& source : sources) {
    std::string text;
    if (several && arguments.format == "text") text = "# " + source.name() + "\n";
    append_snapshot(text, source, arguments, filter);
    JTRACE_RETURN_IF_ERROR(file->write(text));
  }
  return file->finish();
}

// What `serve` has of these JVMs when it is asked for the first time.
Result<> print_named(std::vector<perfdata::CounterSource>& sources, const SnapArguments& arguments,
                     perfdata::Naming naming, ExitStatus& status) {
  std::vector<perfdata::GcDurations> durations(sources.size());
  std::vector<perfdata::NamedJvm> jvms;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    durations[i].observe(sources[i].first());
    jvms.push_back(perfdata::named_jvm(sources[i].pid(), sources[i].first()));
    if (perfdata::shows_pauses(naming)) jvms.back().durations = &durations[i];
    numbers.push_back(i);
  }
  perfdata::read_inner(arguments.naming.inner(), jvms, numbers);
  for (std::size_t i = 0; i < jvms.size(); ++i) perfdata::match_threads(jvms[i], sources[i]);
  for (const perfdata::NamedJvm& each : jvms) {
    const std::string problem = perfdata::inner_problem(each);
    if (problem.empty()) continue;
    log_warning(problem);
    if (status == ExitStatus::kOk) status = ExitStatus::kPartial;
  }
  const bool open = arguments.format == "openmetrics";
  std::string page;
  perfdata::append_named_metrics(page, jvms, naming,
                                 open ? perfdata::MetricsFormat::kOpenMetrics : perfdata::MetricsFormat::kPrometheus);
  if (open) page += "# EOF\n";
  JTRACE_ASSIGN_OR_RETURN(const auto file, open_whole_output(arguments.output));
  JTRACE_RETURN_IF_ERROR(file->write(page));
  return file->finish();
}

// The naming, if there is one and the other options fit it.
Result<std::optional<perfdata::Naming>> naming_of(const SnapArguments& arguments) {
  if (!arguments.naming.is_given()) {
    if (arguments.naming.inside) return fail(ErrorCategory::kUsage, "--inside needs --naming");
    return std::nullopt;
  }
  JTRACE_ASSIGN_OR_RETURN(const perfdata::Naming naming, arguments.naming.parse());
  if (naming == perfdata::Naming::kHotspot)
    return fail(ErrorCategory::kUsage, "with the names of the counters it is --format openmetrics");
  if (!arguments.filter.empty() || arguments.text.raw || arguments.text.show_secrets)
    return fail(ErrorCategory::kUsage,
                "--counters, --raw and --show-secrets are about the counters: not with --naming");
  if (arguments.format != "text" && arguments.format != "openmetrics")
    return fail(ErrorCategory::kUsage, "--naming has the formats text (of Prometheus) and openmetrics");
  return naming;
}

Result<> print(std::vector<perfdata::CounterSource>& sources, const SnapArguments& arguments,
               const std::optional<perfdata::Naming>& naming, ExitStatus& status) {
  return naming ? print_named(sources, arguments, *naming, status) : print_counters(sources, arguments);
}

ExitStatus run_snap(const SnapArguments& arguments) {
  const auto naming = naming_of(arguments);
  if (!naming) return report(naming.error());
  if (auto filter = parse_filter(arguments.filter); !filter) return report(filter.error());
  ExitStatus status = ExitStatus::kOk;
  auto sources = open_all(arguments.sources, status);
  if (sources.empty()) return status;
  if (const auto some = check_matches(sources, arguments.filter); !some) return report(some.error());
  for (const perfdata::CounterSource& source : sources) {
    print_warnings(source);
    if (auto safe = refuse_overwriting(arguments.output, {source.name()}); !safe) return report(safe.error());
    if (!source.first().layout().complete() && status == ExitStatus::kOk) status = ExitStatus::kPartial;
  }
  if (auto printed = print(sources, arguments, *naming, status); !printed) return report(printed.error());
  return status;
}

}  // namespace

void add_hsperf_snap(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<SnapArguments>();
  auto* command =
      app.add_subcommand("snap", "all counters at one moment, with correct unit, variability and freshness");
  add_source_arguments(*command, arguments->sources, true);
  add_counters_option(*command, arguments->filter);
  command->add_option("-o,--output", arguments->output, "file; - is standard output")->capture_default_str();
  add_naming_options(*command, arguments->naming, "");
  command->add_option("--format", arguments->format, "text, json, csv, xml or openmetrics")
      ->check(one_of({"text", "json", "csv", "xml", "openmetrics"}))
      ->capture_default_str();
  command->add_flag("--raw", arguments->text.raw, "the JVM's own numbers, as jcmd PerfCounter.print shows them");
  command->add_flag("--fragments", arguments->fragments, "xml: elements without a root");
  command->add_flag("--strict-dtd", arguments->strict, "xml: fragments valid against the original trace.dtd");
  command->add_flag("--show-secrets", arguments->text.show_secrets, "do not mask what looks like a password");
  command->footer("example: hsperf snap 4711 --counters 'sun.gc.collector'");
  command->callback([arguments, &status] { status = run_snap(*arguments); });
}

}  // namespace jtrace::cli
