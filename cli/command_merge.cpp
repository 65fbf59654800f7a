// jtrace merge IN... -o OUT: several streams as one.
#include <memory>

#include "base/strings.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/output_name.h"
#include "cli/overwriting.h"
#include "cli/summaries.h"
#include "cli/trace_input.h"
#include "cli/trace_output.h"
#include "trace/io/loss_sink.h"
#include "trace/io/merger.h"
#include "trace/xml_writer.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

struct MergeArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string names = "exact";
  bool fragments = false;
  bool renumber = false;
  bool strict = false;
  bool repair_utf8 = false;
};

constexpr std::size_t kGapsNamed = 20;

// Reports what the merged stream lacks: gaps, one a line; the rest in one line. True if something is missing.
bool report_summary(const io::MergeSummary& summary) {
  for (std::size_t i = 0; i < std::min(summary.gaps.size(), kGapsNamed); ++i) {
    const io::CollationGap& gap = summary.gaps[i];
    log_warning("trace " + gap.trace_id + " lacks the collationValues " + std::to_string(gap.first) + " to " +
                std::to_string(gap.last));
  }
  if (summary.gaps.size() > kGapsNamed) log_warning("... and " + counted(summary.gaps.size() - kGapsNamed, "more gap"));
  for (const std::string& difference : summary.differences) log_warning(difference + "; the first holds");
  if (summary.remote_unknown != 0)
    log_warning(counted(summary.remote_unknown, "remote call") + (summary.remote_unknown == 1 ? " comes" : " come") +
                " from callers that no input has");
  if (summary.remote_circular != 0)
    log_warning(std::to_string(summary.remote_circular) +
                " remote calls wait for each other: they stay in order of time");
  std::string text = counted(summary.elements, "element") + " of " + counted(summary.traces, "trace");
  if (summary.duplicates != 0) text += ", " + counted(summary.duplicates, "duplicate") + " dropped";
  if (summary.remote_calls != 0) text += ", " + counted(summary.remote_calls, "remote call") + " after their callers";
  if (summary.joined_processes != 0)
    text += ", " + counted(summary.joined_processes, "process", "processes") + " joined by jtrace.vm";
  log_info(text);
  return !summary.gaps.empty();
}

ExitStatus run(const MergeArguments& arguments) {
  if (const Result<> good = refuse_overwriting(arguments.output, arguments.inputs); !good) return report(good.error());
  io::Merger merger({.spool_folder = folder_of_output(arguments.output), .renumber = arguments.renumber});
  ExitStatus status = ExitStatus::kOk;
  const TraceInputOptions options{.strict = arguments.strict, .repair_utf8 = arguments.repair_utf8};
  std::vector<std::vector<std::string>> groups{arguments.inputs};
  if (arguments.inputs.size() > 1) {
    auto found = group_inputs(arguments.inputs, options);
    if (!found) return report(found.error());
    groups = std::move(*found);
  }
  for (const std::vector<std::string>& group : groups) {
    io::FaultLog faults = warnings(arguments.strict);
    const auto opened = open_parts(group, faults, options);
    if (!opened) return report(opened.error());
    const auto read = merger.add(*opened->source, opened->name);
    if (!read) return report(read.error());
    const ExitStatus reported = report_input(opened->name, *read, faults, {.parts = opened->missing});
    if (reported != ExitStatus::kOk) status = reported;
  }
  const auto bytes = open_trace_output(arguments.output);
  if (!bytes) return report(bytes.error());
  trace::XmlWriterOptions xml{.single_trace = merger.trace_count() == 1 && !arguments.fragments};
  if (arguments.fragments) xml.form = trace::XmlForm::kFragments;
  if (arguments.names == "classic") xml.names = trace::XmlNames::kClassic;
  trace::XmlWriter writer(**bytes, xml);
  io::LossSink losses(writer);
  const auto summary = merger.write(losses);
  if (!summary) return report(summary.error());
  if (arguments.strict && !summary->gaps.empty()) {
    const io::CollationGap& gap = summary->gaps.front();
    return report(Error{ErrorCategory::kMalformed, "trace " + gap.trace_id + " lacks the collationValues " +
                                                       std::to_string(gap.first) + " to " + std::to_string(gap.last)});
  }
  if (Result<> finished = writer.finish(); !finished) return report(finished.error());
  const bool lacks = report_summary(*summary);
  for (const std::string& line : lacks_of(arguments.output, {}, {.losses = losses.losses()}))
    log_info("missing: " + line);
  return lacks || losses.losses().any() ? ExitStatus::kPartial : status;
}

}  // namespace

void add_merge_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command = app.add_subcommand("merge", summary_of("merge"));
  command
      ->add_option("IN", arguments->inputs,
                   "traces: XML, fragments or SDDF, compressed or not; the parts of rotated traces in any order")
      ->required();
  command->add_option("-o,--output", arguments->output, "the document; - is stdout; it appears when it is complete")
      ->required()
      ->check(wrong_trace_name);
  command->add_flag("--fragments", arguments->fragments, "elements without a root");
  command->add_flag("--renumber", arguments->renumber,
                    "make thread, class, method and object ids unique in the document, not only in their agent");
  command->add_option("--names", arguments->names, "exact (<init>) or classic (-init-)")
      ->check(one_of({"exact", "classic"}));
  command->add_flag("--strict", arguments->strict, "what cannot be read of the inputs, and gaps, are errors");
  command->add_flag("--repair-utf8", arguments->repair_utf8, "accept the JVM's modified UTF-8 and convert it");
  command->footer(
      "Exit status 9: something is missing (gaps, inputs that are cut off, events that were lost while tracing).\n"
      "Example: jtrace merge app.trcxml counters.xml core.xml -o all.trcxml");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
