#include "cli/view_run.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/joined.h"
#include "base/json_answer.h"
#include "base/log.h"
#include "cli/answer_format.h"
#include "cli/bundle_views.h"
#include "cli/heap_dump_file.h"
#include "cli/heap_output.h"
#include "cli/heap_page.h"
#include "cli/leak_looks.h"
#include "cli/loaded_heap.h"
#include "cli/redacted_dump.h"
#include "coreinspect/tools/core_copy.h"
#include "coreinspect/tools/core_redaction.h"
#include "coreinspect/tools/graph_events.h"
#include "diagnose/bundle_file.h"
#include "trace/xml_writer.h"

namespace jtrace::cli {
namespace {

void report_masked(std::size_t count) {
  if (count == 0) return;
  log_info(count == 1 ? "1 value is masked: --show-secrets shows it"
                      : std::to_string(count) + " values are masked: --show-secrets shows them");
}

}  // namespace

void write_target(JsonWriter& json, const coreinspect::Inspection& inspection) {
  const target::Target& target = inspection.target();
  json.begin_object();
  if (target.core()) json.member("kind", "core").member("path", target.core()->path()).member("nspid", target.nspid());
  else json.member("kind", "process").member("pid", target.process()->pid()).member("nspid", target.nspid());
  json.member("version", inspection.vm().release()).end_object();
}

void write_dump_target(JsonWriter& json, const std::string& path, const coreinspect::ObjectGraph& graph) {
  json.begin_object().member("kind", "heap dump").member("path", path).member("time", graph.file().millis());
  json.end_object();
}

namespace {

// `target`: as JSON.
std::string envelope(const std::string& view, const std::string& target, const coreinspect::ViewResult& result) {
  std::string out;
  JsonWriter json(out);
  begin_answer(json, view).json(target);
  write_missing(json, result.missing, result.masked);
  if (!result.members.empty()) json.json(result.members);
  json.key("data").json("[" + result.out + "]").end_object();
  return out + "\n";
}

}  // namespace

std::string view_document(const coreinspect::Inspection& inspection, const coreinspect::View& view,
                          const coreinspect::ViewResult& result) {
  std::string target;
  JsonWriter json(target);
  write_target(json, inspection);
  return envelope(std::string(view.name), target, result);
}

namespace {

Result<std::vector<std::string>> write_events(coreinspect::Inspection& inspection, const InspectArguments& arguments,
                                              const coreinspect::View& view, const coreinspect::ViewOptions& options) {
  if (view.parts == nullptr)
    return fail(ErrorCategory::kUsage,
                "the view " + std::string(view.name) + " has no elements of trace.dtd: it has no --format xml",
                "docs/trace_format.md, \"Views\"");
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_answer(arguments.output));
  trace::XmlWriter xml(*bytes, {.single_trace = true});
  auto identity = identity_of(inspection, options.show_secrets);
  identity.agent_parameters = view.name;
  JTRACE_ASSIGN_OR_RETURN(const auto missing,
                          coreinspect::write_snapshot_events(inspection, xml, identity, view.parts(options), options));
  JTRACE_RETURN_IF_ERROR(xml.finish());
  auto lines = inspection.missing();
  lines.insert(lines.end(), missing.begin(), missing.end());
  return lines;
}

Result<std::vector<std::string>> write_view(coreinspect::Inspection& inspection, const InspectArguments& arguments,
                                            const coreinspect::View& view, const coreinspect::ViewOptions& options) {
  coreinspect::ViewOptions own = options;
  // Constructed before the file and destroyed after it, so that no signal leaves a partial file.
  std::optional<HeapProgress> progress;
  // The graph is built after the JVM runs again, without a check for cancellation: a signal ends the program there.
  if (view.is(coreinspect::fact::kWalksHeap) && !coreinspect::uses_graph(view, own)) progress.emplace(own.heap);
  std::unique_ptr<trace::ByteSink> dump;
  if (view.is(coreinspect::fact::kWritesDump)) {
    JTRACE_ASSIGN_OR_RETURN(dump, open_heap_dump(arguments.output));
    own.heap.dump = dump.get();
  }
  JTRACE_ASSIGN_OR_RETURN(auto result, view.run(inspection, own));
  if (view.is(coreinspect::fact::kWritesDump)) JTRACE_RETURN_IF_ERROR(dump->finish());
  // Parts of the target that are missing are missing from every answer.
  for (const std::string& line : inspection.missing())
    if (std::find(result.missing.begin(), result.missing.end(), line) == result.missing.end())
      result.missing.push_back(line);
  std::string out;
  if (arguments.format == "xml") {
    JTRACE_ASSIGN_OR_RETURN(out,
                            coreinspect::values_document(view_document(inspection, view, result), view, result.missing,
                                                         identity_of(inspection, options.show_secrets)));
  } else if (options.json) {
    JTRACE_ASSIGN_OR_RETURN(out, formatted(view_document(inspection, view, result), arguments.format,
                                           view.is(coreinspect::fact::kWritesDump) ? "-" : arguments.output));
  } else if (view.is(coreinspect::fact::kIsPage)) {
    out = heap_page(arguments.target, result);
  } else {
    JTRACE_ASSIGN_OR_RETURN(out, formatted(std::move(result.out), arguments.format, arguments.output));
  }
  if (view.is(coreinspect::fact::kWritesDump) && arguments.output == "-") return std::move(result.missing);
  JTRACE_ASSIGN_OR_RETURN(const auto bytes,
                          open_answer(view.is(coreinspect::fact::kWritesDump) ? "-" : arguments.output));
  JTRACE_RETURN_IF_ERROR(bytes->write(out));
  JTRACE_RETURN_IF_ERROR(bytes->finish());
  report_masked(result.masked);
  return std::move(result.missing);
}

std::string views_of_dumps() {
  std::vector<std::string> names;
  for (const coreinspect::View& view : coreinspect::views())
    if (view.of_graph) names.emplace_back(view.name);
  return joined(names);
}

Result<std::vector<std::string>> answer_of(const LoadedHeap& heap, const InspectArguments& arguments,
                                           const coreinspect::View& view) {
  coreinspect::ViewOptions options = arguments.options;
  choose_form(arguments.format, options);
  const bool as_values = arguments.format == "xml";
  options.json = options.json || as_values;
  JTRACE_ASSIGN_OR_RETURN(auto result, view.of_graph(*heap.graph, options));
  result.missing.insert(result.missing.begin(), heap.missing.begin(), heap.missing.end());
  if (!heap.members.empty()) result.members += (result.members.empty() ? "" : ",") + heap.members;
  std::string out = options.json                          ? envelope(std::string(view.name), heap.target, result)
                    : view.is(coreinspect::fact::kIsPage) ? heap_page(arguments.target, result)
                                                          : std::move(result.out);
  if (as_values) {
    JTRACE_ASSIGN_OR_RETURN(out, coreinspect::values_document(out, view, result.missing, heap.identity));
  } else {
    JTRACE_ASSIGN_OR_RETURN(out, formatted(std::move(out), arguments.format, arguments.output));
  }
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_answer(arguments.output));
  JTRACE_RETURN_IF_ERROR(bytes->write(out));
  JTRACE_RETURN_IF_ERROR(bytes->finish());
  report_masked(result.masked);
  return std::move(result.missing);
}

// Of a graph only these views are events.
Result<> check_values(const coreinspect::View& view) {
  if (coreinspect::gives_values(view, {.heap = {.reachable = true}})) return {};
  return fail(ErrorCategory::kUsage,
              "the view " + std::string(view.name) + " has no elements of trace.dtd: it has no --format xml",
              "of a heap dump histogram, retained, dominators, leaks and waste have");
}

Result<std::vector<std::string>> write_graph_view(const InspectArguments& arguments, const coreinspect::View& view) {
  if (view.is(coreinspect::fact::kWritesDump)) return write_redacted_dump(arguments);
  if (!view.of_graph)
    return fail(ErrorCategory::kUsage, "a heap dump has no " + std::string(view.name), "it has " + views_of_dumps());
  if (arguments.format == "xml") JTRACE_RETURN_IF_ERROR(check_values(view));
  JTRACE_ASSIGN_OR_RETURN(const LoadedHeap heap, load_heap(arguments));
  return answer_of(heap, arguments, view);
}

// Other views fail with the address that a small core lacks.
bool needs_objects(const coreinspect::View& view, const coreinspect::ViewOptions& options) {
  return view.is(coreinspect::fact::kWalksHeap) || coreinspect::uses_graph(view, options) || options.heap.in_events;
}

ExitStatus finish(const Result<std::vector<std::string>>& missing, const std::string& what) {
  if (!missing) return report(missing.error().with_context(what));
  for (const std::string& line : *missing) log_info("missing: " + line);
  return missing->empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

// A page is for a browser.
Result<> check_page(const InspectArguments& arguments, const coreinspect::View& view) {
  if (!view.is(coreinspect::fact::kIsPage)) return {};
  if (arguments.format_given && arguments.format != "html")
    return fail(ErrorCategory::kUsage, "the page of a heap is HTML: it has no --format " + arguments.format,
                "dominators, paths, leaks and waste have what is on it");
  if (arguments.output == "-" && ::isatty(STDOUT_FILENO) != 0)
    return fail(ErrorCategory::kUsage, "a page is not for a terminal", "-o FILE.html");
  return {};
}

}  // namespace

ExitStatus run_view_of(const LoadedHeap& heap, InspectArguments arguments, const coreinspect::View& view) {
  const std::string what = std::string(view.name) + " of " + arguments.target;
  if (const Result<> good = check_page(arguments, view); !good) return report(good.error());
  if (const Result<> good = settle_output(arguments, view); !good) return report(good.error());
  if (arguments.options.heap.duration.count() > 0 && arguments.options.heap.growth == nullptr)
    return report(Error{ErrorCategory::kUsage, "--duration: the heap was read once, and stays as it was then"});
  if (arguments.format == "xml")
    if (const Result<> good = check_values(view); !good) return report(good.error());
  return finish(answer_of(heap, arguments, view), what);
}

ExitStatus run_view(InspectArguments arguments, const coreinspect::View& view) {
  const std::string what = std::string(view.name) + " of " + arguments.target;
  if (const Result<> good = check_page(arguments, view); !good) return report(good.error());
  if (const Result<> good = settle_output(arguments, view); !good) return report(good.error());
  if (arguments.options.heap.duration.count() > 0) return run_leak_looks(std::move(arguments), view);
  if (is_file_name(arguments.target) && diagnose::is_bundle(arguments.target)) return run_bundle_view(arguments, view);
  if (is_file_name(arguments.target) && is_heap_dump(arguments.target))
    return finish(write_graph_view(arguments, view), what);
  auto inspection = open_inspection(arguments);
  if (!inspection) return report(inspection.error());
  const bool unanswered = !coreinspect::answers_when_redacted(view) || arguments.format == "xml";
  const Result<> answered =
      coreinspect::check_not_redacted((*inspection)->target(), arguments.options.threads.locals ? "local variables"
                                                               : arguments.format == "xml"      ? "events"
                                                                                                : view.name);
  if ((unanswered || arguments.options.threads.locals) && !answered) return report(answered.error());
  if (needs_objects(view, arguments.options))
    if (const Result<> whole = coreinspect::check_not_small((*inspection)->target(), view.name); !whole)
      return report(whole.error());
  coreinspect::ViewOptions options = arguments.options;
  choose_form(arguments.format, options);
  options.max_stop = arguments.max_stop;
  options.heap.redact = options.heap.redact || coreinspect::is_redacted((*inspection)->target());
  const bool as_values = arguments.format == "xml" && coreinspect::gives_values(view, options);
  options.json = options.json || as_values;
  const auto missing = (arguments.format == "xml" && !as_values) || !view.run
                           ? write_events(**inspection, arguments, view, options)
                           : write_view(**inspection, arguments, view, options);
  if (missing) {
    for (const std::string& line : (*inspection)->vm().warnings()) log_info(line);
    note_unused_option(**inspection);
  }
  return finish(missing, what);
}

}  // namespace jtrace::cli
