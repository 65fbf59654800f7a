// jtrace convert IN -o OUT: a trace in another format.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/recording_input.h"
#include "cli/temporary_file.h"
#include "cli/trace_input.h"
#include "cli/trace_output.h"
#include "trace/io/compress_sink.h"
#include "trace/io/converter.h"
#include "trace/io/flame_svg.h"
#include "trace/io/sqlite_csv.h"
#include "trace/io/sqlite_writer.h"
#include "trace/io/trace_id_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

struct ConvertArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string format;
  std::string weight = "wall";
  std::string names = "exact";
  std::string doctype;
  bool strict = false;
  bool repair_utf8 = false;
};

// The format by the end of the output's name; "" if the name does not tell.
std::string format_of_name(std::string_view path) {
  struct Ending {
    std::string_view end, format;
  };
  if (path.size() > 1 && path.ends_with('/')) return "csv";
  constexpr Ending kEndings[] = {{".speedscope.json", "speedscope"},
                                 {".json", "chrome"},
                                 {".jsonl", "jsonl"},
                                 {".sqlite", "sqlite"},
                                 {".db", "sqlite"},
                                 {".csv", "csv"},
                                 {".collapsed", "collapsed"},
                                 {".folded", "collapsed"},
                                 {".sddf", "sddf"},
                                 {".svg", "svg"},
                                 {".trcxml", "xml"},
                                 {".xml", "xml"}};
  const std::string_view name = io::without_compression(path);
  for (const Ending& each : kEndings)
    if (name.ends_with(each.end)) return std::string(each.format);
  return {};
}

io::Weight weight_of(const std::string& word) {
  if (word == "cpu") return io::Weight::kCpu;
  return word == "alloc" ? io::Weight::kAllocation : io::Weight::kWall;
}

Result<std::unique_ptr<io::Converter>> make_converter(const ConvertArguments& arguments, const std::string& format,
                                                      trace::ByteSink& bytes) {
  if (format == "jsonl") return io::make_jsonl_writer(bytes);
  if (format == "chrome") return io::make_chrome_writer(bytes);
  if (format == "speedscope") return io::make_speedscope_writer(bytes, arguments.inputs.front());
  if (format == "collapsed") return io::make_collapsed_writer(bytes, weight_of(arguments.weight));
  return io::make_sddf_writer(bytes);
}

trace::XmlWriterOptions xml_options(const ConvertArguments& arguments, bool fragments) {
  trace::XmlWriterOptions options{.doctype = fragments ? "" : arguments.doctype};
  if (fragments) options.form = trace::XmlForm::kFragments;
  if (arguments.names == "classic") options.names = trace::XmlNames::kClassic;
  return options;
}

// Reports in one line what the output does not contain; strict: as an error.
ExitStatus report_lost(const io::Converter& converter, const std::string& format, bool strict) {
  const auto lost = converter.lost();
  if (lost.empty()) return ExitStatus::kOk;
  std::string text = format + " cannot carry: ";
  bool first = true;
  for (const auto& [name, count] : lost) {
    text += (first ? "" : ", ") + std::to_string(count) + " " + name;
    first = false;
  }
  if (strict) return report(Error{ErrorCategory::kPartial, text});
  log_info(text);
  return ExitStatus::kOk;
}

Result<> convert_profile(const ConvertArguments& arguments, const io::StackProfile& profile,
                         const std::string& format) {
  if (format != "collapsed" && format != "speedscope" && format != "svg")
    return fail(ErrorCategory::kUsage, "a profile becomes collapsed, speedscope or svg, not " + format,
                "jtrace report " + arguments.inputs.front() + " -o profile.html makes a page of it");
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_trace_output(arguments.output));
  JTRACE_RETURN_IF_ERROR(bytes->write(format == "collapsed" ? io::collapsed_of(profile)
                                      : format == "svg"     ? io::flame_svg(profile, arguments.inputs.front(), "")
                                                            : io::speedscope_of(profile, arguments.inputs.front())));
  return bytes->finish();
}

// What a database, and the folder of CSV files that is made from one, cannot be written to.
Result<> check_database(const std::string& output, const std::string& format) {
  const bool is_packed = io::compression_of_name(output) != io::Compression::kNone;
  if (format == "sqlite" && (output == "-" || is_packed))
    return fail(ErrorCategory::kUsage, "a database goes to a file, and is not packed: " + output);
  if (format != "csv") return {};
  if (output == "-" || is_packed || output.ends_with(".csv"))
    return fail(ErrorCategory::kUsage, "CSV is a folder with a file for each view, not " + output,
                "jtrace convert IN --to csv -o FOLDER");
  if (::access(output.c_str(), F_OK) == 0)
    return fail(ErrorCategory::kRefused, output + " exists: CSV is written into a new folder");
  return {};
}

ExitStatus run(const ConvertArguments& arguments) {
  const std::string format = arguments.format.empty() ? format_of_name(arguments.output) : arguments.format;
  if (format.empty())
    return report(
        Error{ErrorCategory::kUsage, "the name " + arguments.output + " does not say which format; use --to"});
  if (arguments.inputs.size() == 1 && arguments.inputs.front() != "-") {
    const auto profile = read_profile(arguments.inputs.front());
    if (!profile) return report(profile.error());
    if (*profile) {
      const Result<> written = convert_profile(arguments, **profile, format);
      return written ? ExitStatus::kOk : report(written.error());
    }
  }
  if (format == "svg")
    return report(Error{ErrorCategory::kUsage, "a picture is made of a profile: convert " + arguments.inputs.front() +
                                                   " to collapsed first, and that to svg"});
  io::FaultLog faults = warnings(arguments.strict);
  const auto opened =
      open_parts(arguments.inputs, faults, {.strict = arguments.strict, .repair_utf8 = arguments.repair_utf8});
  if (!opened) return report(opened.error());
  const bool database = format == "sqlite" || format == "csv";
  if (Result<> possible = check_database(arguments.output, format); !possible) return report(possible.error());
  std::optional<TemporaryFile> temporary;  // the database from which CSV is made
  if (format == "csv") {
    auto made = TemporaryFile::make("convert", "trace.sqlite");
    if (!made) return report(made.error());
    temporary.emplace(std::move(*made));
  }
  auto bytes = database ? Result<std::unique_ptr<trace::ByteSink>>(nullptr) : open_trace_output(arguments.output);
  if (!bytes) return report(bytes.error());

  std::unique_ptr<io::Converter> converter;
  std::unique_ptr<trace::XmlWriter> xml;
  std::unique_ptr<io::TraceIdSink> with_ids;
  trace::EventSink* sink = nullptr;
  if (format == "xml" || format == "fragments") {
    xml = std::make_unique<trace::XmlWriter>(**bytes, xml_options(arguments, format == "fragments"));
    sink = xml.get();
    if (format == "fragments") {
      with_ids = std::make_unique<io::TraceIdSink>(*xml);
      sink = with_ids.get();
    }
  } else {
    auto made = database ? io::make_sqlite_writer(temporary ? temporary->path() : arguments.output)
                         : make_converter(arguments, format, **bytes);
    if (!made) return report(made.error());
    converter = std::move(*made);
    sink = converter.get();
  }
  const auto summary = opened->source->read(*sink);
  // Not finished: the output does not appear under its name.
  if (!summary) return report(summary.error());
  if (arguments.strict && converter)
    if (const ExitStatus lost = report_lost(*converter, format, true); lost != ExitStatus::kOk) return lost;
  if (Result<> finished = sink->finish(); !finished) return report(finished.error());
  if (temporary)
    if (Result<> written = io::write_csv_folder(temporary->path(), arguments.output); !written)
      return report(written.error());
  if (converter && !temporary) report_lost(*converter, format, false);
  if (converter)
    for (const std::string& note : converter->notes()) log_info(note);
  const ExitStatus status = report_input(opened->name, *summary, faults);
  return opened->missing ? ExitStatus::kPartial : status;
}

}  // namespace

void add_convert_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ConvertArguments>();
  CLI::App* command = app.add_subcommand("convert", "write a trace in another format");
  command
      ->add_option("IN", arguments->inputs,
                   "a trace: XML, fragments, SDDF, JSON lines or a spill, compressed or not; the parts of a rotated "
                   "trace; - is stdin; or a profile: collapsed stacks or speedscope")
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
      ->check(CLI::IsMember(
          {"xml", "fragments", "jsonl", "sddf", "chrome", "speedscope", "collapsed", "sqlite", "csv", "svg"}));
  command->add_option("--weight", arguments->weight, "collapsed stacks: wall, cpu (ns) or alloc (bytes)")
      ->check(CLI::IsMember({"wall", "cpu", "alloc"}));
  command->add_option("--names", arguments->names, "XML: exact (<init>) or classic (-init-)")
      ->check(CLI::IsMember({"exact", "classic"}));
  command->add_option("--doctype", arguments->doctype, "XML: write a DOCTYPE with this system id");
  command->add_flag("--strict", arguments->strict,
                    "faults of the input, and content that the format cannot hold, are errors");
  command->add_flag("--repair-utf8", arguments->repair_utf8, "accept the JVM's modified UTF-8 and convert it");
  command->footer("Example: jtrace convert app.trcxml -o app.speedscope.json");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
