// jtrace heap TARGET VIEW: the views of `jtrace inspect` that show what objects hold and what refers to them.
// jtrace heap diff OLD NEW: what has grown between two heaps.
#include <CLI/CLI.hpp>

#include "base/json_answer.h"
#include "base/strings.h"
#include "cli/answer_format.h"
#include "cli/commands.h"
#include "cli/heap_shell.h"
#include "cli/inspect_common.h"
#include "cli/loaded_heap.h"
#include "cli/one_of.h"
#include "cli/overwriting.h"
#include "cli/selector.h"
#include "cli/summaries.h"
#include "cli/units.h"
#include "cli/view_options.h"
#include "cli/view_run.h"
#include "coreinspect/tools/heap_diff_view.h"

namespace jtrace::cli {
namespace {

using coreinspect::ViewOption;

constexpr const char* kDiff = "diff";
constexpr const char* kShell = "shell";

// Of `diff` view and argument are the two heaps.
struct HeapArguments {
  std::string target, view;
  InspectArguments inspect;            // all of them but target and view
  const LoadedHeap* loaded = nullptr;  // the target, in its shell

  bool is_diff() const { return target == kDiff; }
};

bool is_heap_view(const coreinspect::View& view) { return view.of_graph != nullptr; }

// What is kept of the first heap, so that only one graph is in memory at a time.
struct Opened {
  coreinspect::HeapTotals totals;
  std::string target;  // as JSON
  std::vector<std::string> missing;
};

// `computed`: with sizes by the fields, as a heap dump has them.
Result<Opened> open(const InspectArguments& arguments, const std::string& target, bool computed) {
  InspectArguments own = arguments;
  own.target = target;
  JTRACE_ASSIGN_OR_RETURN(LoadedHeap heap, load_heap(own));
  if (computed) heap.graph->forget_real_sizes();
  Opened opened{.totals = coreinspect::HeapTotals(*heap.graph, coreinspect::totals_by(own.options.heap.by)),
                .target = std::move(heap.target)};
  for (const auto& lines : {heap.missing, heap.graph->missing()})
    for (const std::string& line : lines) opened.missing.push_back(target + ": " + line);
  return opened;
}

std::string json_of(const Opened& before, const Opened& after, const coreinspect::ViewResult& result) {
  std::string out;
  JsonWriter json(out);
  begin_answer(json, "heap diff").json(after.target).key("before").json(before.target);
  write_missing(json, result.missing);
  if (!result.members.empty()) json.json(result.members);
  json.key("data").json("[" + result.out + "]").end_object();
  return out + "\n";
}

Result<std::vector<std::string>> run_diff(const HeapArguments& arguments) {
  InspectArguments inspect = arguments.inspect;
  JTRACE_RETURN_IF_ERROR(
      refuse_overwriting(inspect.output, {arguments.view, inspect.options.arguments.front(), inspect.files.libjvm}));
  JTRACE_RETURN_IF_ERROR(settle_format(inspect, {"text", "json", "csv", "sqlite"}, kDiff));
  inspect.options.json = is_made_of_json(inspect.format);
  const std::string& old_heap = arguments.view;
  const std::string& new_heap = inspect.options.arguments.front();
  const bool computed = is_dump_file(old_heap) || is_dump_file(new_heap);
  JTRACE_ASSIGN_OR_RETURN(const Opened before, open(inspect, old_heap, computed));
  JTRACE_ASSIGN_OR_RETURN(const Opened after, open(inspect, new_heap, computed));
  auto result = coreinspect::heap_diff(before.totals, after.totals, inspect.options);
  result.missing = before.missing;
  result.missing.insert(result.missing.end(), after.missing.begin(), after.missing.end());
  std::string out = inspect.options.json ? json_of(before, after, result) : result.out;
  if (inspect.options.json) {
    JTRACE_ASSIGN_OR_RETURN(out, formatted(std::move(out), inspect.format, inspect.output));
  }
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_answer(inspect.output));
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
  if (arguments.inspect.options.heap.by == "thread")
    return report(Error{.category = ErrorCategory::kUsage,
                        .text = "threads of two heaps are not compared",
                        .help = "--by class, package, loader or path"});
  const auto missing = run_diff(arguments);
  if (!missing) return report(missing.error());
  for (const std::string& line : *missing) log_info("missing: " + line);
  return missing->empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

void add_command(CLI::App& app, ExitStatus& status, const LoadedHeap* loaded);

// A line of the shell, as the words after `jtrace heap TARGET`.
ExitStatus ask(const LoadedHeap& heap, const std::string& target, const std::vector<std::string>& words) {
  std::vector<std::string> line = {"jtrace", "heap", target};
  line.insert(line.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : line) argv.push_back(word.data());
  argv.push_back(nullptr);
  CLI::App app("", "jtrace");
  ExitStatus status = ExitStatus::kOk;
  add_command(app, status, &heap);
  return static_cast<ExitStatus>(run_program(app, status, static_cast<int>(line.size()), argv.data(), nullptr));
}

ExitStatus run_shell_command(const HeapArguments& arguments, const WordScopes& scopes) {
  for (const auto& [option, words] : scopes.options)
    if (option->count() > 0 && !scopes.has(kShell, *option))
      return report(Error{.category = ErrorCategory::kUsage,
                          .text = "shell has no option --" + option->get_lnames().front(),
                          .help = "it comes after a view, in the shell"});
  if (!arguments.inspect.options.arguments.empty())
    return report(Error{ErrorCategory::kUsage, "shell takes no argument"});
  InspectArguments inspect = arguments.inspect;
  inspect.target = arguments.target;
  const auto heap = load_heap(inspect);
  if (!heap) return report(heap.error());
  log_info(counted(heap->graph->size(), "object") + " of " + arguments.target +
           "; a view with its options is a question, help lists the views, quit ends");
  return run_shell([&](const auto& words) { return ask(*heap, arguments.target, words); }, list_of_views(is_heap_view));
}

// `heap dif a.hprof b.hprof`: the word that is wrong is the first, not "a.hprof".
Result<> check_no_misspelt_diff(const HeapArguments& arguments) {
  const coreinspect::View* view = coreinspect::find_view(arguments.view);
  const bool is_view = arguments.view == kShell || (view != nullptr && is_heap_view(*view));
  if (is_view || names_input(arguments.target) || nearest_word(arguments.target, {kDiff}).empty()) return {};
  return fail(ErrorCategory::kUsage, "no heap " + arguments.target, "did you mean diff?");
}

ExitStatus run(HeapArguments& arguments, const WordScopes& scopes) {
  if (arguments.view.empty() && !arguments.is_diff() && arguments.inspect.output.ends_with(".html"))
    arguments.view = "page";
  if (arguments.view.empty())
    return report(Error{.category = ErrorCategory::kUsage,
                        .text = arguments.is_diff() ? "two heaps are compared: OLD is required" : "VIEW is required",
                        .help = "jtrace heap --help lists the views; -o FILE.html alone makes a page"});
  if (arguments.is_diff()) return run_diff_command(arguments, scopes);
  if (auto checked = check_no_misspelt_diff(arguments); !checked) return report(checked.error());
  if (arguments.view == kShell && arguments.loaded == nullptr) return run_shell_command(arguments, scopes);
  InspectArguments& inspect = arguments.inspect;
  const auto view = named_view(arguments.view, is_heap_view, "jtrace heap", arguments.target);
  if (!view) return report(view.error());
  if (auto checked = check_view(**view, inspect, scopes); !checked) return report(checked.error());
  if (inspect.options.heap.sort == "retained")
    return report(Error{.category = ErrorCategory::kUsage,
                        .text = "--sort retained is for jtrace heap diff",
                        .help = "the view retained is by it"});
  inspect.target = arguments.target;
  inspect.view = arguments.view;
  return arguments.loaded ? run_view_of(*arguments.loaded, inspect, **view) : run_view(inspect, **view);
}

void add_command(CLI::App& app, ExitStatus& status, const LoadedHeap* loaded) {
  auto arguments = std::make_shared<HeapArguments>();
  arguments->loaded = loaded;
  coreinspect::HeapOptions& heap = arguments->inspect.options.heap;
  CLI::App* command = app.add_subcommand("heap", summary_of("heap"));
  command
      ->add_option(
          "PID|CORE|HPROF|diff", arguments->target,
          "a process id, part of a main class, a core, or a heap dump; or the word diff, to compare two of them")
      ->required();
  const CLI::Option* view =
      command->add_option("VIEW|OLD", arguments->view,
                          "what to show; see below. With diff the first heap. Without it -o FILE.html is a page");
  command->add_option("ARGUMENT|NEW", arguments->inspect.options.arguments,
                      "argument of the view. With diff the other heap, or the same one later");
  add_inspect_options(*command, arguments->inspect);
  OwnOptions own(is_heap_view);
  own.add_word(kDiff, "what has grown between two heaps, OLD and NEW: by class, package, loader or path");
  own.add_word(kShell, "reads the heap once, and answers one view after the other, a line each");
  own.add(ViewOption::kMaxStop, add_max_stop(*command, arguments->inspect), {kDiff, kShell});
  own.add(ViewOption::kSort,
          command
              ->add_option("--sort", heap.sort,
                           "by bytes (the default), instances or name; of diff by their growth, or by retained")
              ->check(one_of({"bytes", "instances", "retained", "name"})),
          {kDiff});
  CLI::Option* type = command->add_option("--class", heap.filter, "part of a class name, or a pattern with * and ?");
  own.add(ViewOption::kFilter, type->type_name("PATTERN"), {kDiff});
  add_old_name(*command, type, "--filter");
  CLI::Option* rows = add_rows(*command, heap.top, "number of rows; of an array or a collection, of its elements");
  own.add(ViewOption::kTop, rows, {kDiff});
  add_old_name(*command, rows, "--top");
  add_heap_options(*command, arguments->inspect, own, {kShell}, {kDiff});
  command->footer(
      "Views, which jtrace inspect has too; and two words of jtrace heap:\n" +
      list_of_views(is_heap_view, {{kShell, "reads the heap once, and answers one view after the other, a line each"},
                                   {kDiff, "in place of the heap: compares two heaps, OLD and NEW"}}) +
      "Exit status 9: something is missing.\n"
      "Examples: jtrace heap monday.hprof instances Order\n"
      "          jtrace heap diff monday.hprof 4711");
  register_word_scopes(*command, std::move(own).scopes_of(view));
  command->callback([arguments, command, &status] { status = run(*arguments, *word_scopes_of(*command)); });
}

}  // namespace

void add_heap_command(CLI::App& app, ExitStatus& status) { add_command(app, status, nullptr); }

}  // namespace jtrace::cli
