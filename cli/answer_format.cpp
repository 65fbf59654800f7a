#include "cli/answer_format.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/joined.h"
#include "cli/overwriting.h"
#include "coreinspect/tools/views.h"
#include "trace/io/compress_sink.h"
#include "trace/io/json_table.h"
#include "trace/io/stack_profile.h"

namespace jtrace::cli {
namespace {

struct Ending {
  std::string_view ending, format;
};
// A longer ending comes before the shorter one that it ends in.
constexpr Ending kEndings[] = {{".txt", "text"},      {".speedscope.json", "speedscope"},
                               {".json", "json"},     {".csv", "csv"},
                               {".sqlite", "sqlite"}, {".sqlite3", "sqlite"},
                               {".db", "sqlite"},     {".xml", "xml"},
                               {".html", "html"},     {".collapsed", "collapsed"}};

// "": the name has no ending, or a number (core.1234). That of what is packed, if it is.
std::string_view ending_of(std::string_view path) {
  const std::string_view name = trace::io::without_compression(path.substr(path.rfind('/') + 1));
  for (const Ending& each : kEndings)
    if (name.ends_with(each.ending) && name.size() > each.ending.size()) return each.ending;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size()) return {};
  const std::string_view ending = name.substr(dot);
  return ending.find_first_not_of("0123456789", 1) == std::string_view::npos ? std::string_view() : ending;
}

// "": that ending is not one of a format.
std::string_view format_of_ending(std::string_view ending) {
  const auto found =
      std::find_if(std::begin(kEndings), std::end(kEndings), [&](const Ending& each) { return each.ending == ending; });
  return found == std::end(kEndings) ? std::string_view() : found->format;
}

bool has(const std::vector<std::string>& formats, std::string_view format) {
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

std::string endings_of(const std::vector<std::string>& formats) {
  std::vector<std::string> endings;
  for (const Ending& each : kEndings)
    if (has(formats, each.format)) endings.emplace_back(each.ending);
  return joined(endings);
}

// `events` has nothing else; a heap dump has no elements of its own.
std::vector<std::string> formats_of(const coreinspect::View& view, const coreinspect::ViewOptions& options) {
  if (view.is(coreinspect::fact::kIsPage)) return {"html"};
  if (!view.run) return {"xml"};
  std::vector<std::string> formats = {"text", "json", "csv", "sqlite"};
  if (view.parts != nullptr || coreinspect::gives_values(view, options)) formats.emplace_back("xml");
  if (view.has(coreinspect::ViewOption::kByClass)) formats.insert(formats.end(), {"collapsed", "speedscope"});
  return formats;
}

// What goes to the file is the dump; the format is that of the answer on standard output.
Result<> check_dump_name(const std::string& output) {
  const std::string_view format = format_of_ending(ending_of(output));
  if (format.empty()) return {};
  return fail(ErrorCategory::kUsage,
              "the name " + output + " is one for " + std::string(format) + ", not for a heap dump",
              "-o FILE.hprof, .hprof.gz or .hprof.zst");
}

}  // namespace

Result<std::unique_ptr<trace::ByteSink>> open_answer(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(auto sink, open_whole_output(path));
  return trace::io::compressing(std::move(sink), trace::io::compression_of_name(path));
}

Result<> settle_format(InspectArguments& arguments, const std::vector<std::string>& formats, const std::string& what) {
  const std::string_view ending = arguments.output == "-" ? std::string_view() : ending_of(arguments.output);
  const std::string format(format_of_ending(ending));
  if (arguments.format_given && !format.empty() && format != arguments.format)
    return fail(ErrorCategory::kUsage,
                "-o " + arguments.output + " is a name for " + format + ", --format says " + arguments.format);
  if (!arguments.format_given && !ending.empty() && !has(formats, format))
    return fail(ErrorCategory::kUsage,
                what + " is not written as " + std::string(ending) + ": the name " + arguments.output +
                    " does not say what to write",
                "a name in " + endings_of(formats) + ", or --format");
  if (!arguments.format_given) arguments.format = format.empty() ? formats.front() : format;
  if (!has(formats, arguments.format))
    return fail(ErrorCategory::kUsage, what + " has no --format " + arguments.format, "it has " + joined(formats));
  arguments.format_given = true;
  return {};
}

Result<> settle_output(InspectArguments& arguments, const coreinspect::View& view) {
  JTRACE_RETURN_IF_ERROR(refuse_overwriting(arguments.output, {arguments.target, arguments.files.libjvm}));
  if (arguments.options.bytes) return {};
  const std::string what = "the view " + std::string(view.name);
  if (!view.is(coreinspect::fact::kWritesDump))
    return settle_format(arguments, formats_of(view, arguments.options), what);
  JTRACE_RETURN_IF_ERROR(check_dump_name(arguments.output));
  InspectArguments printed = arguments;
  printed.output = "-";
  return settle_format(printed, formats_of(view, arguments.options), what);
}

bool is_made_of_json(const std::string& format) { return format == "json" || format == "csv" || format == "sqlite"; }

bool is_made_of_stacks(const std::string& format) { return format == "collapsed" || format == "speedscope"; }

void choose_form(const std::string& format, coreinspect::ViewOptions& options) {
  options.json = is_made_of_json(format);
  options.stacks = is_made_of_stacks(format);
}

Result<std::string> formatted(std::string document, const std::string& format, const std::string& output) {
  if (format == "csv") return trace::io::csv_of_json(document);
  if (format == "speedscope") {
    JTRACE_ASSIGN_OR_RETURN(trace::io::StackProfile profile, trace::io::read_collapsed(document));
    profile.unit = "bytes";
    return trace::io::speedscope_of(profile, "what keeps the heap, by class");
  }
  if (format != "sqlite") return document;
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0)
    return fail(ErrorCategory::kUsage, "a database is not for a terminal", "-o FILE");
  return trace::io::database_of_json(document);
}

}  // namespace jtrace::cli
