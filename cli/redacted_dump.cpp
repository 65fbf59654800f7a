#include "cli/redacted_dump.h"

#include "base/strings.h"
#include "cli/heap_dump_file.h"
#include "cli/heap_output.h"
#include "cli/view_run.h"
#include "coreinspect/tools/hprof_redactor.h"

namespace jtrace::cli {
namespace {

void append_counts(const coreinspect::RedactionCounts& counts, bool as_json, std::string& out) {
  const std::pair<const char*, std::uint64_t> rows[] = {
      {"objects", counts.objects},
                                                        {"zeroedBytes", counts.zeroed},
                                                        {"keptBytes", counts.kept},
                                                        {"blankedTexts", counts.blanked}};
  JsonWriter json(out);
  for (const auto& [name, count] : rows) {
    if (as_json) json.begin_object().member("record", name).member("count", count).end_object();
    else out += std::string(name) + " " + std::to_string(count) + "\n";
  }
}

std::string document(const InspectArguments& arguments, const coreinspect::HprofFile& dump,
                     const coreinspect::RedactionCounts& counts) {
  std::string out;
  if (arguments.format == "text") {
    append_counts(counts, false, out);
    return out;
  }
  JsonWriter json(out);
  json.begin_object().member("view", "heapdump").key("target").begin_object();
  json.member("kind", "heap dump").member("path", arguments.target).member("time", dump.millis()).end_object();
  write_missing(json, counts.missing.empty(), counts.missing);
  json.member("redacted", true).key("data");
  out += "[";
  append_counts(counts, true, out);
  return out + "]}\n";
}

}  // namespace

Result<std::vector<std::string>> write_redacted_dump(const InspectArguments& arguments) {
  if (!arguments.options.heap.redact)
    return fail(ErrorCategory::kUsage, "it is a heap dump already", "--redact writes it without its contents");
  if (arguments.format == "xml")
    return fail(ErrorCategory::kUsage, "a view of a heap dump has no elements of trace.dtd: text and json only");
  coreinspect::HeapOptions options;
  const HeapProgress progress(options);  // before the file, so that no signal leaves a partial one
  JTRACE_ASSIGN_OR_RETURN(const auto sink, open_heap_dump(arguments.output));
  bool cut = false;
  JTRACE_ASSIGN_OR_RETURN(const auto dump, open_heap_dump_file(arguments.target, cut));
  JTRACE_ASSIGN_OR_RETURN(const auto kept, coreinspect::KeptFields::of(arguments.options.heap.keep));
  JTRACE_ASSIGN_OR_RETURN(auto counts, coreinspect::redact_dump(dump, *sink, options.progress, kept));
  JTRACE_RETURN_IF_ERROR(sink->finish());
  if (cut) counts.missing.push_back("the compressed file ends too early, or its end is spoilt");
  if (arguments.output == "-") return std::move(counts.missing);
  JTRACE_ASSIGN_OR_RETURN(const auto told, open_whole_output("-"));
  JTRACE_RETURN_IF_ERROR(told->write(document(arguments, dump, counts)));
  JTRACE_RETURN_IF_ERROR(told->finish());
  return std::move(counts.missing);
}

}  // namespace jtrace::cli
