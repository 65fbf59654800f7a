#include "cli/redacted_dump.h"

#include "base/json_answer.h"
#include "base/strings.h"
#include "cli/heap_dump_file.h"
#include "cli/heap_output.h"
#include "cli/view_run.h"
#include "coreinspect/tools/graph_views.h"

namespace jtrace::cli {
namespace {

void append_counts(const coreinspect::RedactionCounts& counts, bool as_json, std::string& out) {
  const std::pair<const char*, std::uint64_t> rows[] = {{"objects", counts.objects},
                                                        {"garbageLeftOut", counts.left_out},
                                                        {"zeroedBytes", counts.zeroed},
                                                        {"keptBytes", counts.kept},
                                                        {"blankedTexts", counts.blanked}};
  JsonWriter json(out);
  for (const auto& [name, count] : rows) {
    if (as_json) json.begin_object().member("record", name).member("count", count).end_object();
    else out += std::string(name) + " " + std::to_string(count) + "\n";
  }
}

std::string document(const InspectArguments& arguments, std::uint64_t millis,
                     const coreinspect::RedactionCounts& counts) {
  std::string out;
  if (arguments.format == "text") {
    append_counts(counts, false, out);
    return out;
  }
  JsonWriter json(out);
  begin_answer(json, "heapdump")
      .begin_object()
      .member("kind", "heap dump")
      .member("path", arguments.target)
      .member("time", millis)
      .end_object();
  write_missing(json, counts.missing).member("redacted", arguments.options.heap.redact).key("data");
  out += "[";
  append_counts(counts, true, out);
  return out + "]}\n";
}

}  // namespace

Result<std::vector<std::string>> write_redacted_dump(const InspectArguments& arguments) {
  if (!arguments.options.heap.redact && !arguments.options.heap.reachable)
    return fail(ErrorCategory::kUsage, "it is a heap dump already",
                "--redact writes it without its contents, --reachable without garbage");
  if (arguments.format == "xml")
    return fail(ErrorCategory::kUsage, "a view of a heap dump has no elements of trace.dtd: text and json only");
  coreinspect::HeapOptions options = arguments.options.heap;
  const HeapProgress progress(options);  // before the file, so that no signal leaves a partial one
  JTRACE_ASSIGN_OR_RETURN(const auto sink, open_heap_dump(arguments.output));
  std::vector<std::string> missing;
  JTRACE_ASSIGN_OR_RETURN(auto dump, open_heap_dump_file(arguments.target, missing));
  const std::uint64_t millis = dump.millis();
  JTRACE_ASSIGN_OR_RETURN(auto counts, coreinspect::write_some(std::move(dump), options, *sink));
  JTRACE_RETURN_IF_ERROR(sink->finish());
  counts.missing.insert(counts.missing.end(), missing.begin(), missing.end());
  if (arguments.output == "-") return std::move(counts.missing);
  JTRACE_ASSIGN_OR_RETURN(const auto counts_out, open_whole_output("-"));
  JTRACE_RETURN_IF_ERROR(counts_out->write(document(arguments, millis, counts)));
  JTRACE_RETURN_IF_ERROR(counts_out->finish());
  return std::move(counts.missing);
}

}  // namespace jtrace::cli
