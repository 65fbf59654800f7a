#include "cli/output_name.h"

#include <algorithm>
#include <array>

#include "trace/io/compress_sink.h"
#include "trace/io/format_writer.h"

namespace jtrace::cli {
namespace {

// The ending of a name that is known to be of some format; "" for any other.
std::string_view known_ending(std::string_view path) {
  constexpr std::array kKnown = {".xml", ".trcxml", ".sddf", ".html",  ".htm",    ".json", ".jsonl",    ".csv",
                                 ".txt", ".md",     ".pdf",  ".png",   ".svg",    ".zip",  ".tar",      ".sqlite",
                                 ".db",  ".hprof",  ".jfr",  ".pprof", ".folded", ".core", ".collapsed"};
  const std::string_view name = trace::io::without_compression(path);
  for (const std::string_view each : kKnown)
    if (name.ends_with(each) && name.size() > each.size()) return each;
  return {};
}

using Endings = std::vector<std::string>;

std::string wrong_name(std::string_view path, std::string_view made, const Endings& endings) {
  const std::string_view ending = known_ending(path);
  if (ending.empty() || std::find(endings.begin(), endings.end(), ending) != endings.end()) return {};
  std::string_view stem = trace::io::without_compression(path);
  stem.remove_suffix(ending.size());
  return std::string(path) + " is not a name for " + std::string(made) + ", which this command writes: -o " +
         std::string(stem) + endings.front();
}

}  // namespace

CLI::Validator named_like(std::string made, std::vector<std::string> endings) {
  const auto check = [made = std::move(made), endings = std::move(endings)](const std::string& path) {
    return wrong_name(path, made, endings);
  };
  return CLI::Validator(check, "");
}

std::string wrong_trace_name(const std::string& path) {
  const bool is_page = path.ends_with(".html");
  const std::string_view format = is_page ? "html" : trace::io::format_of_name(path);
  if (format == "xml") return {};
  if (format.empty()) return wrong_name(path, "a trace in XML", {".xml"});
  return "the name " + path + " says " + std::string(format) +
         ", and this command writes XML: -o NAME.xml, then jtrace " + (is_page ? "report" : "convert") +
         " NAME.xml -o " + path;
}

}  // namespace jtrace::cli
