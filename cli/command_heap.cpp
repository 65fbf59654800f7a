// jtrace heap diff OLD NEW: what has grown between two heaps.
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/heap_dump_file.h"
#include "cli/inspect_common.h"
#include "cli/units.h"
#include "coreinspect/tools/graph_views.h"
#include "coreinspect/tools/heap_diff_view.h"

namespace jtrace::cli {
namespace {

struct HeapArguments {
  std::string question;
  std::string before, after;
  InspectArguments inspect;  // all of them but the target
};

// What is kept of the first heap, so that only one graph is in memory at a time.
struct Opened {
  coreinspect::HeapTotals totals;
  std::string target;  // as JSON
  std::vector<std::string> missing;
};

Result<Opened> of_dump(const std::string& path) {
  bool cut = false;
  JTRACE_ASSIGN_OR_RETURN(const auto graph, open_heap_graph(path, cut));
  Opened opened{.totals = coreinspect::HeapTotals(*graph), .missing = graph->missing()};
  if (cut) opened.missing.push_back("the compressed file ends too early, or its end is spoilt");
  JsonWriter json(opened.target);
  write_dump_target(json, path, *graph);
  return opened;
}

Result<Opened> of_jvm(const InspectArguments& arguments) {
  JTRACE_ASSIGN_OR_RETURN(const auto inspection, open_inspection(arguments));
  JTRACE_ASSIGN_OR_RETURN(const auto made, coreinspect::graph_of(*inspection, arguments.options));
  Opened opened{.totals = coreinspect::HeapTotals(*made.graph), .missing = made.missing};
  for (const auto& lines : {made.graph->missing(), inspection->missing()})
    opened.missing.insert(opened.missing.end(), lines.begin(), lines.end());
  JsonWriter json(opened.target);
  write_target(json, *inspection);
  return opened;
}

Result<Opened> open(const InspectArguments& arguments, const std::string& target) {
  InspectArguments own = arguments;
  own.target = target;
  own.options.max_stop = arguments.max_stop;
  auto opened = is_file_name(target) && is_heap_dump(target) ? of_dump(target) : of_jvm(own);
  if (!opened) return fail(opened.error().with_context("heap of " + target));
  for (std::string& line : opened->missing) line = target + ": " + line;
  return opened;
}

std::string json_of(const Opened& before, const Opened& after, const coreinspect::ViewResult& result) {
  std::string out = "{\"view\":\"heap diff\",\"target\":" + after.target + ",\"before\":" + before.target + ",";
  JsonWriter json(out);
  write_missing(json, result.missing.empty(), result.missing);
  return out + "," + result.members + ",\"data\":[" + result.out + "]}\n";
}

Result<std::vector<std::string>> run_diff(const HeapArguments& arguments) {
  InspectArguments inspect = arguments.inspect;
  inspect.options.json = inspect.format == "json";
  JTRACE_ASSIGN_OR_RETURN(const Opened before, open(inspect, arguments.before));
  JTRACE_ASSIGN_OR_RETURN(const Opened after, open(inspect, arguments.after));
  auto result = coreinspect::heap_diff(before.totals, after.totals, inspect.options);
  result.missing = before.missing;
  result.missing.insert(result.missing.end(), after.missing.begin(), after.missing.end());
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_whole_output(inspect.output));
  JTRACE_RETURN_IF_ERROR(bytes->write(inspect.options.json ? json_of(before, after, result) : result.out));
  JTRACE_RETURN_IF_ERROR(bytes->finish());
  return std::move(result.missing);
}

ExitStatus run(const HeapArguments& arguments) {
  const auto missing = run_diff(arguments);
  if (!missing) return report(missing.error());
  for (const std::string& line : *missing) log_info("missing: " + line);
  return missing->empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

}  // namespace

void add_heap_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<HeapArguments>();
  coreinspect::HeapOptions& heap = arguments->inspect.options.heap;
  CLI::App* command = app.add_subcommand("heap", "compare two heaps: what has grown, class by class");
  command->add_option("QUESTION", arguments->question, "diff: OLD is compared with NEW")
      ->required()
      ->check(CLI::IsMember({"diff"}));
  command->add_option("OLD", arguments->before, "a process id, part of a main class, a core, or a heap dump")
      ->required();
  command->add_option("NEW", arguments->after, "another one, or the same one later")->required();
  command->add_option("--sort", heap.sort, "by growth of bytes (the default), instances or retained; or by name")
      ->check(CLI::IsMember({"bytes", "instances", "retained", "name"}));
  add_old_name(*command,
               command->add_option("--class", heap.filter, "part of a class name, or a pattern with * and ?")
                   ->type_name("PATTERN"),
               "--filter");
  add_old_name(*command, command->add_option("--rows", heap.top, "rows of the table"), "--top");
  command->add_option("--format", arguments->inspect.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->add_option("-o,--output", arguments->inspect.output, "file to write; - is standard output (the default)");
  add_max_stop(*command, arguments->inspect);
  command->footer("Exit status 9: something is missing in one of them.\nExample: jtrace heap diff monday.hprof 4711");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
