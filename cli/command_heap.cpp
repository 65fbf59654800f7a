// jtrace heap TARGET VIEW: the views of `jtrace inspect` that tell what objects hold and who refers to them.
// jtrace heap diff OLD NEW: what has grown between two heaps.
#include <CLI/CLI.hpp>

#include "cli/answer_format.h"
#include "cli/commands.h"
#include "cli/heap_dump_file.h"
#include "cli/inspect_common.h"
#include "cli/overwriting.h"
#include "cli/units.h"
#include "cli/view_options.h"
#include "cli/view_run.h"
#include "coreinspect/tools/graph_views.h"
#include "coreinspect/tools/heap_diff_view.h"

namespace jtrace::cli {
namespace {

using coreinspect::ViewOption;

constexpr const char* kDiff = "diff";

// Of `diff` view and argument are the two heaps.
struct HeapArguments {
  std::string target, view;
  InspectArguments inspect;  // all of them but target and view

  bool is_diff() const { return target == kDiff; }
};

bool is_heap_view(const coreinspect::View& view) { return view.of_graph != nullptr; }

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
  inspect.options.json = is_made_of_json(inspect.format);
  JTRACE_RETURN_IF_ERROR(
      refuse_overwriting(inspect.output, {arguments.view, inspect.options.arguments.front(), inspect.files.libjvm}));
  JTRACE_ASSIGN_OR_RETURN(const Opened before, open(inspect, arguments.view));
  JTRACE_ASSIGN_OR_RETURN(const Opened after, open(inspect, arguments.inspect.options.arguments.front()));
  auto result = coreinspect::heap_diff(before.totals, after.totals, inspect.options);
  result.missing = before.missing;
  result.missing.insert(result.missing.end(), after.missing.begin(), after.missing.end());
  std::string out = inspect.options.json ? json_of(before, after, result) : result.out;
  if (inspect.options.json) {
    JTRACE_ASSIGN_OR_RETURN(out, formatted(std::move(out), inspect.format, inspect.output));
  }
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_whole_output(inspect.output));
  JTRACE_RETURN_IF_ERROR(bytes->write(out));
  JTRACE_RETURN_IF_ERROR(bytes->finish());
  return std::move(result.missing);
}

ExitStatus run_diff_command(const HeapArguments& arguments, const WordScopes& scopes) {
  if (arguments.inspect.options.arguments.size() != 1)
    return report(
        Error{.category = ErrorCategory::kUsage,
              .text = arguments.inspect.options.arguments.empty() ? "NEW is required" : "two heaps are compared",
              .help = "jtrace heap diff OLD NEW"});
  for (const auto& [option, words] : scopes.options)
    if (option->count() > 0 && !scopes.has(kDiff, *option))
      return report(Error{ErrorCategory::kUsage, "diff has no option --" + option->get_lnames().front()});
  if (arguments.inspect.format == "xml") return report(Error{ErrorCategory::kUsage, "diff has no --format xml"});
  const auto missing = run_diff(arguments);
  if (!missing) return report(missing.error());
  for (const std::string& line : *missing) log_info("missing: " + line);
  return missing->empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

ExitStatus run(HeapArguments& arguments, const WordScopes& scopes) {
  if (arguments.is_diff()) return run_diff_command(arguments, scopes);
  InspectArguments& inspect = arguments.inspect;
  const auto view = named_view(arguments.view, is_heap_view, "jtrace heap");
  if (!view) return report(view.error());
  if (auto checked = check_view(**view, inspect, scopes); !checked) return report(checked.error());
  if (inspect.options.heap.sort == "retained")
    return report(Error{.category = ErrorCategory::kUsage,
                        .text = "--sort retained is for jtrace heap diff",
                        .help = "the view retained is by it"});
  inspect.target = arguments.target;
  inspect.view = arguments.view;
  return run_view(inspect, **view);
}

}  // namespace

void add_heap_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<HeapArguments>();
  coreinspect::HeapOptions& heap = arguments->inspect.options.heap;
  CLI::App* command =
      app.add_subcommand("heap", "what objects hold, and who holds them; what has grown between two heaps");
  command
      ->add_option(
          "PID|CORE|HPROF|diff", arguments->target,
          "a process id, part of a main class, a core, or a heap dump; or the word diff, to compare two of them")
      ->required();
  const CLI::Option* view =
      command->add_option("VIEW|OLD", arguments->view, "what to show; see below. With diff the first heap")->required();
  command->add_option("ARGUMENT|NEW", arguments->inspect.options.arguments,
                      "argument of the view. With diff the other heap, or the same one later");
  add_inspect_options(*command, arguments->inspect);
  OwnOptions own(is_heap_view);
  own.add_word(kDiff, "what has grown between two heaps, OLD and NEW, class by class");
  own.add(ViewOption::kMaxStop, add_max_stop(*command, arguments->inspect), {kDiff});
  own.add(ViewOption::kSort,
          command
              ->add_option("--sort", heap.sort,
                           "by bytes (the default), instances or name; of diff by their growth, or by retained")
              ->check(CLI::IsMember({"bytes", "instances", "retained", "name"})),
          {kDiff});
  CLI::Option* type = command->add_option("--class", heap.filter, "part of a class name, or a pattern with * and ?");
  own.add(ViewOption::kFilter, type->type_name("PATTERN"), {kDiff});
  add_old_name(*command, type, "--filter");
  CLI::Option* rows = command->add_option("--rows", heap.top, "number of rows; of an array, number of elements");
  own.add(ViewOption::kTop, rows, {kDiff});
  add_old_name(*command, rows, "--top");
  add_heap_options(*command, arguments->inspect, own);
  command->footer("Views, which jtrace inspect has too:\n" + list_of_views(is_heap_view) +
                  "Exit status 9: something is missing.\n"
                  "Examples: jtrace heap monday.hprof instances Order\n"
                  "          jtrace heap diff monday.hprof 4711");
  register_word_scopes(*command, std::move(own).scopes_of(view));
  command->callback([arguments, command, &status] { status = run(*arguments, *word_scopes_of(*command)); });
}

}  // namespace jtrace::cli
