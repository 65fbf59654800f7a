#include "trace/io/format_writer.h"

#include <unistd.h>

#include "base/quoted_text.h"
#include "trace/io/compress_sink.h"
#include "trace/io/flame_svg.h"
#include "trace/io/sqlite_writer.h"
#include "trace/io/trace_id_sink.h"

namespace jtrace::trace::io {
namespace {

std::unique_ptr<Converter> make_converter(ByteSink& bytes, const FormatOptions& options) {
  if (options.format == "jsonl") return make_jsonl_writer(bytes);
  if (options.format == "chrome") return make_chrome_writer(bytes);
  if (options.format == "speedscope") return make_speedscope_writer(bytes, options.input);
  if (options.format == "collapsed") return make_collapsed_writer(bytes, options.weight);
  return make_sddf_writer(bytes);
}

}  // namespace

std::string_view format_of_name(std::string_view path) {
  struct Ending {
    std::string_view end, format;
  };
  if (path.size() > 1 && path.ends_with('/')) return "csv";
  static constexpr Ending kEndings[] = {{".speedscope.json", "speedscope"},
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
  const std::string_view name = without_compression(path);
  for (const Ending& each : kEndings)
    if (name.ends_with(each.end)) return each.format;
  return {};
}

bool needs_database(std::string_view format) { return format == "sqlite" || format == "csv"; }

Result<> check_database_output(const std::string& output, std::string_view format) {
  const bool is_packed = compression_of_name(output) != Compression::kNone;
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

FormatWriter FormatWriter::to_bytes(ByteSink& bytes, const FormatOptions& options) {
  FormatWriter made;
  const bool fragments = options.format == "fragments";
  if (fragments || options.format == "xml") {
    XmlWriterOptions xml{.doctype = fragments ? "" : options.doctype};
    if (fragments) xml.form = XmlForm::kFragments;
    xml.names = options.names;
    made.xml_ = std::make_unique<XmlWriter>(bytes, xml);
    if (fragments) made.with_ids_ = std::make_unique<TraceIdSink>(*made.xml_);
    made.sink_ = fragments ? made.with_ids_.get() : made.xml_.get();
  } else {
    made.converter_ = make_converter(bytes, options);
    made.sink_ = made.converter_.get();
  }
  return made;
}

Result<FormatWriter> FormatWriter::to_database(const std::string& path) {
  FormatWriter made;
  JTRACE_ASSIGN_OR_RETURN(made.converter_, make_sqlite_writer(path));
  made.sink_ = made.converter_.get();
  return made;
}

Result<std::string> profile_as(const StackProfile& profile, std::string_view format, const std::string& input) {
  if (format == "collapsed") return collapsed_of(profile);
  if (format == "speedscope") return speedscope_of(profile, input);
  if (format == "svg") return flame_svg(profile, input, "");
  return fail(ErrorCategory::kUsage, "a profile becomes collapsed, speedscope or svg, not " + std::string(format),
              "jtrace report " + shell_word(input) + " -o profile.html makes a page of it");
}

}  // namespace jtrace::trace::io
