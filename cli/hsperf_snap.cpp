// hsperf snap: all counters at one moment.
#include <memory>

#include "base/json.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/hsperf_output.h"
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
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_output("-", 0));
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

Result<> print_snapshot(perfdata::CounterSource& source, const SnapArguments& arguments,
                        const perfdata::NameFilter& filter) {
  if (arguments.format == "xml") return print_xml(source, arguments, filter);
  const perfdata::CounterTable table(source.first(), filter);
  std::string out;
  if (arguments.format == "json") append_json(out, source, table, arguments.text);
  else if (arguments.format == "openmetrics") append_metrics(out, source, arguments, filter);
  else if (arguments.format == "csv") perfdata::append_csv(out, table, source.first(), arguments.text);
  else perfdata::append_text(out, table, source.first(), arguments.text);
  return print_out(out);
}

ExitStatus run_snap(const SnapArguments& arguments) {
  auto filter = parse_filter(arguments.filter);
  if (!filter) return report(filter.error());
  ExitStatus status = ExitStatus::kOk;
  auto sources = open_all(arguments.sources, status);
  for (perfdata::CounterSource& source : sources) {
    print_warnings(source);
    if (sources.size() > 1 && arguments.format == "text")
      if (auto head = print_out("# " + source.name() + "\n"); !head) return report(head.error());
    if (auto printed = print_snapshot(source, arguments, *filter); !printed) return report(printed.error());
    if (!source.first().layout().complete() && status == ExitStatus::kOk) status = ExitStatus::kPartial;
  }
  return status;
}

}  // namespace

void add_hsperf_snap(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<SnapArguments>();
  auto* command =
      app.add_subcommand("snap", "all counters at one moment, with correct unit, variability and freshness");
  add_source_arguments(*command, arguments->sources, true);
  add_counters_option(*command, arguments->filter);
  command->add_option("--format", arguments->format, "text, json, csv, xml or openmetrics")
      ->check(CLI::IsMember({"text", "json", "csv", "xml", "openmetrics"}))
      ->capture_default_str();
  command->add_flag("--raw", arguments->text.raw, "the JVM's own numbers, as jcmd PerfCounter.print shows them");
  command->add_flag("--fragments", arguments->fragments, "xml: elements without a root");
  command->add_flag("--strict-dtd", arguments->strict, "xml: fragments valid against the original trace.dtd");
  command->add_flag("--show-secrets", arguments->text.show_secrets, "do not mask what looks like a password");
  command->footer("example: hsperf snap 4711 --counters 'sun.gc.collector'");
  command->callback([arguments, &status] { status = run_snap(*arguments); });
}

}  // namespace jtrace::cli
