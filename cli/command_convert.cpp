// jtrace convert IN -o OUT: a trace in another format.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/quoted_text.h"
#include "base/size_text.h"
#include "base/strings.h"
#include "base/temporary_file.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/overwriting.h"
#include "cli/recording_input.h"
#include "cli/summaries.h"
#include "cli/trace_input.h"
#include "cli/trace_output.h"
#include "trace/io/document_kind.h"
#include "trace/io/fault_log.h"
#include "trace/io/format_writer.h"
#include "trace/io/loss_sink.h"
#include "trace/io/profile_file.h"
#include "trace/io/sqlite_csv.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

struct ConvertArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string format;
  std::string weight;  // "": wall
  std::string names;   // "": exact
  std::string doctype;
  bool strict = false;
  bool repair_utf8 = false;
};

io::FormatOptions format_options(const ConvertArguments& arguments, std::string format) {
  io::FormatOptions options{
      .format = std::move(format), .input = arguments.inputs.front(), .doctype = arguments.doctype};
  if (arguments.weight == "cpu") options.weight = io::Weight::kCpu;
  if (arguments.weight == "alloc") options.weight = io::Weight::kAllocation;
  if (arguments.names == "classic") options.names = trace::XmlNames::kClassic;
  return options;
}

// Refuses options without an effect on this output, so that the user does not take them for applied.
Result<> check_options(const ConvertArguments& arguments, const std::string& format, bool of_profile) {
  const auto refuse = [&](const char* option, const std::string& why) {
    return fail(ErrorCategory::kUsage, std::string(option) + " does not go together with " + format + ": " + why);
  };
  const bool is_xml = !of_profile && (format == "xml" || format == "fragments");
  if (!arguments.weight.empty() && of_profile) return refuse("--weight", "a profile has weights of its own");
  if (!arguments.weight.empty() && arguments.weight != "wall" && format != "collapsed")
    return refuse("--weight", "it is for collapsed stacks");
  if (!arguments.names.empty() && !is_xml) return refuse("--names", "it is for XML");
  if (!arguments.doctype.empty() && (!is_xml || format == "fragments"))
    return refuse("--doctype", "it is for an XML document");
  return {};
}

// "812 option, 30 gcStart and 3 more kinds": the most frequent first; all of them if `all`.
std::string lost_text(const std::map<std::string, std::uint64_t>& lost, bool all) {
  constexpr std::size_t kShown = 5;
  std::vector<std::pair<std::string, std::uint64_t>> kinds(lost.begin(), lost.end());
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const std::size_t shown = all ? kinds.size() : std::min(kinds.size(), kShown);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(kinds[i].second) + " " + kinds[i].first;
  if (const std::size_t more = kinds.size() - shown; more != 0)
    text += " and " + counted(more, "more kind") + " (-v names them)";
  return text;
}

// Reports in one line what the output does not contain; strict: as an error.
ExitStatus report_lost(const io::Converter& converter, const std::string& format, bool strict) {
  const auto lost = converter.lost();
  if (lost.empty()) return ExitStatus::kOk;
  const std::string text = format + " cannot carry: " + lost_text(lost, strict || log_level() >= LogLevel::kDebug);
  if (strict) return report(Error{ErrorCategory::kPartial, text});
  log_info(text);
  return ExitStatus::kOk;
}

// The output of a trace, which appears under its name with finish().
class Output {
 public:
  static Result<Output> open(const ConvertArguments& arguments, const std::string& format) {
    Output made(arguments.output);
    if (io::needs_database(format)) {
      JTRACE_RETURN_IF_ERROR(io::check_database_output(arguments.output, format));
      if (format == "csv") {
        JTRACE_ASSIGN_OR_RETURN(TemporaryFile database, TemporaryFile::make("convert", "trace.sqlite"));
        made.database_.emplace(std::move(database));
      }
      JTRACE_ASSIGN_OR_RETURN(
          made.writer_, io::FormatWriter::to_database(made.database_ ? made.database_->path() : arguments.output));
    } else {
      JTRACE_ASSIGN_OR_RETURN(made.bytes_, open_trace_output(arguments.output));
      made.writer_ = io::FormatWriter::to_bytes(*made.bytes_, format_options(arguments, format));
    }
    return made;
  }
  io::FormatWriter& writer() { return writer_; }
  bool is_csv() const { return database_.has_value(); }
  Result<> finish() {
    JTRACE_RETURN_IF_ERROR(writer_.sink().finish());
    return database_ ? io::write_csv_folder(database_->path(), name_) : Result<>();
  }

 private:
  explicit Output(std::string name) : name_(std::move(name)) {}
  std::string name_;
  std::optional<TemporaryFile> database_;  // from which CSV is made
  std::unique_ptr<trace::ByteSink> bytes_;
  io::FormatWriter writer_;
};

// In one line. `amount`: "812 elements".
void report_written(const ConvertArguments& arguments, const std::string& format, const std::string& amount) {
  if (arguments.output == "-") return;
  std::error_code unknown;
  const bool is_file = std::filesystem::is_regular_file(arguments.output, unknown);
  const auto size = is_file ? std::filesystem::file_size(arguments.output, unknown) : 0;
  log_info(amount + " as " + format + (is_file && !unknown ? ", " + size_text(size) : "") + " -> " + arguments.output);
}

ExitStatus convert_trace(const ConvertArguments& arguments, const std::string& format) {
  io::FaultLog faults = warnings(arguments.strict);
  const auto opened =
      open_parts(arguments.inputs, faults, {.strict = arguments.strict, .repair_utf8 = arguments.repair_utf8});
  if (!opened) return report(opened.error());
  auto output = Output::open(arguments, format);
  if (!output) return report(output.error());
  io::Converter* converter = output->writer().converter();
  io::LossSink losses(output->writer().sink());
  const auto summary = opened->source->read(losses);
  // Not finished: the output does not appear under its name.
  if (!summary) return report(summary.error());
  if (arguments.strict && converter)
    if (const ExitStatus lost = report_lost(*converter, format, true); lost != ExitStatus::kOk) return lost;
  if (converter)
    for (const std::string& line : lacks_of(opened->name, *summary, {.parts = opened->missing}))
      converter->add_missing(line);
  if (Result<> finished = output->finish(); !finished) return report(finished.error());
  if (converter && !output->is_csv()) report_lost(*converter, format, false);
  if (converter)
    for (const std::string& note : converter->notes()) log_info(note);
  report_written(arguments, format, counted(summary->elements, "element"));
  return report_input(opened->name, *summary, faults, {.losses = losses.losses(), .parts = opened->missing});
}

Result<> convert_profile(const ConvertArguments& arguments, const io::StackProfile& profile,
                         const std::string& format) {
  JTRACE_ASSIGN_OR_RETURN(const std::string text, io::profile_as(profile, format, arguments.inputs.front()));
  return write_output(arguments.output, text);
}

// What cannot be read cannot be converted first either.
Error no_profile(const std::string& input) {
  const auto first = input == "-" ? Result<std::string>("") : io::first_bytes(input);
  if (const auto why = first ? io::why_not_read(io::document_kind(*first)) : std::string_view(); !why.empty())
    return io::malformed_at(input, {}, "is " + std::string(why));
  return {ErrorCategory::kUsage,
          "a picture is made of a profile: convert " + input + " to collapsed first, and that to svg"};
}

ExitStatus run(const ConvertArguments& arguments) {
  if (const Result<> good = refuse_overwriting(arguments.output, arguments.inputs); !good) return report(good.error());
  const std::string format =
      arguments.format.empty() ? std::string(io::format_of_name(arguments.output)) : arguments.format;
  if (format.empty())
    return report(Error{ErrorCategory::kUsage,
                        "the name " + arguments.output + " does not say which format; " +
                            (arguments.output.ends_with(".html")
                                 ? "a page is made by jtrace report " + shell_word(arguments.inputs.front()) + " -o " +
                                       shell_word(arguments.output)
                                 : std::string("use --to"))});
  auto profile = read_only_profile(arguments.inputs);
  const bool has_stacks = format == "collapsed" || format == "speedscope" || format == "svg";
  if (profile && !*profile && has_stacks && arguments.weight.empty()) profile = read_profile_document(arguments.inputs);
  if (!profile) return report(profile.error());
  if (const Result<> fits = check_options(arguments, format, profile->has_value()); !fits) return report(fits.error());
  if (*profile) {
    const Result<> written = convert_profile(arguments, **profile, format);
    if (!written) return report(written.error());
    report_written(arguments, format, counted((*profile)->stacks.size(), "stack"));
    return ExitStatus::kOk;
  }
  if (format == "svg") return report(no_profile(arguments.inputs.front()));
  return convert_trace(arguments, format);
}

}  // namespace

void add_convert_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ConvertArguments>();
  CLI::App* command = app.add_subcommand("convert", summary_of("convert"));
  command
      ->add_option("IN", arguments->inputs,
                   "a trace: XML, fragments, SDDF, JSON lines or a spill, compressed or not; the parts of a rotated "
                   "trace; - is stdin; or a profile: collapsed stacks, speedscope or XML")
      ->required();
  command
      ->add_option(
          "-o,--output", arguments->output,
          "output file; - is stdout; compressed if the name ends in .zst or .gz; it appears when it is complete")
      ->required();
  command
      ->add_option("--to", arguments->format,
                   "xml, fragments, jsonl, sddf, chrome, speedscope, collapsed, sqlite or csv (default: from the "
                   "output's name); "
                   "csv is a new folder of files; svg: of a profile only")
      ->check(
          one_of({"xml", "fragments", "jsonl", "sddf", "chrome", "speedscope", "collapsed", "sqlite", "csv", "svg"}));
  command->add_option("--weight", arguments->weight, "collapsed stacks: wall, cpu (ns) or alloc (bytes)")
      ->check(one_of({"wall", "cpu", "alloc"}));
  command->add_option("--names", arguments->names, "XML: exact (<init>) or classic (-init-)")
      ->check(one_of({"exact", "classic"}));
  command->add_option("--doctype", arguments->doctype, "XML: write a DOCTYPE with this system id");
  command->add_flag("--strict", arguments->strict,
                    "what cannot be read of the input, and content that the format cannot hold, are errors");
  command->add_flag("--repair-utf8", arguments->repair_utf8, "accept the JVM's modified UTF-8 and convert it");
  command->footer("Example: jtrace convert app.trcxml -o app.speedscope.json");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
