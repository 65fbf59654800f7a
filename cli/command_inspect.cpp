// jtrace inspect: shows the contents of a live JVM or a core, one view at a time.
#include <unistd.h>

#include <algorithm>

#include "base/joined.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/inspect_common.h"
#include "cli/units.h"
#include "cli/word_scopes.h"

namespace jtrace::cli {
namespace {

using coreinspect::View;
using coreinspect::ViewOption;

std::string list_of_views() {
  std::string text = "Views:\n";
  for (const View& view : coreinspect::views()) {
    std::string name = std::string(view.name) + (view.argument.empty() ? "" : " " + std::string(view.argument));
    name.resize(std::max<std::size_t>(name.size(), 16), ' ');
    text += "  " + name + " " + std::string(view.help) + "\n";
  }
  return text +
         "jtrace inspect PID VIEW --help lists the options of a view.\n"
         "Example: jtrace inspect core.1234 threads --format json";
}

Result<const View*> named_view(const std::string& name) {
  if (const View* view = coreinspect::find_view(name)) return view;
  std::vector<std::string_view> names;
  for (const View& view : coreinspect::views()) names.push_back(view.name);
  const auto near = nearest_word(name, names);
  return fail(ErrorCategory::kUsage, "no view " + name,
              near.empty() ? "jtrace inspect --help lists them" : "did you mean " + std::string(near) + "?");
}

Result<> check_options(const View& view, const WordScopes& scopes) {
  for (const auto& [option, words] : scopes.options)
    if (option->count() > 0 && !scopes.has(view.name, *option))
      return fail(ErrorCategory::kUsage,
                  "the view " + std::string(view.name) + " has no option --" + option->get_lnames().front(),
                  "it is one of " + joined(words));
  return {};
}

Result<> check_words(const View& view, const InspectArguments& arguments) {
  const std::string name(view.name);
  if (view.argument.empty() != arguments.options.arguments.empty() || arguments.options.arguments.size() > 1)
    return fail(ErrorCategory::kUsage, view.argument.empty()
                                           ? "the view " + name + " takes no argument"
                                           : "the view " + name + " needs " + std::string(view.argument));
  if (!arguments.options.bytes) return {};
  if (arguments.format != "text")
    return fail(ErrorCategory::kUsage, "--bytes writes a class file: it has no --format " + arguments.format);
  if (arguments.output == "-" && ::isatty(STDOUT_FILENO) != 0)
    return fail(ErrorCategory::kUsage, "a class file is not for a terminal", "-o FILE");
  return {};
}

ExitStatus run(const InspectArguments& arguments, const WordScopes& scopes) {
  const auto view = named_view(arguments.view);
  if (!view) return report(view.error());
  if (auto checked = check_options(**view, scopes); !checked) return report(checked.error());
  if (auto checked = check_words(**view, arguments); !checked) return report(checked.error());
  return run_view(arguments, **view);
}

// The options that only some views have, with these views.
class OwnOptions {
 public:
  OwnOptions() {
    for (const View& view : coreinspect::views()) scopes_.words.push_back({std::string(view.name), help_of(view)});
  }
  void add(ViewOption which, CLI::Option* option) {
    std::vector<std::string> names;
    for (const View& view : coreinspect::views())
      if (view.has(which)) names.emplace_back(view.name);
    scopes_.options.push_back({option, std::move(names)});
  }
  WordScopes scopes_of(const CLI::Option* argument) && {
    scopes_.argument = argument;
    return std::move(scopes_);
  }

 private:
  static std::string help_of(const View& view) {
    return (view.argument.empty() ? "" : "(with " + std::string(view.argument) + ") ") + std::string(view.help);
  }
  WordScopes scopes_;
};

void add_own_options(CLI::App& command, InspectArguments& arguments, OwnOptions& own) {
  coreinspect::ViewOptions& options = arguments.options;
  coreinspect::HeapOptions& heap = options.heap;
  own.add(ViewOption::kMaxStop,
          add_max_stop(command, arguments,
                       "longest time that a thread of a live target may be stopped (200ms; of views that read the heap "
                       "as a whole, but for histogram and regions, 2s); many threads are read in batches"));
  own.add(ViewOption::kAll, command.add_flag("--all", options.all, "include flags with their default value"));
  own.add(ViewOption::kBytes, command.add_flag("--bytes", options.bytes, "write its class file"));
  own.add(ViewOption::kShowSecrets,
          command.add_flag("--show-secrets", options.show_secrets, "do not mask passwords and other secrets"));
  own.add(ViewOption::kLocals, command.add_flag("--locals", options.threads.locals,
                                                "the local variables of each frame, compiled ones included"));
  own.add(ViewOption::kNoStop,
          command.add_flag("--no-stop", heap.no_stop,
                           "read the heap of a live JVM while it runs; reports how much changed in the meantime"));
  own.add(ViewOption::kStop,
          command.add_flag("--stop", options.stop, "stop the late threads for a moment, to show where they run"));
  own.add(ViewOption::kSort, command.add_option("--sort", heap.sort, "by bytes (the default), instances or name")
                                 ->check(CLI::IsMember({"bytes", "instances", "name"})));
  CLI::Option* type = command.add_option("--class", heap.filter, "part of a class name, or a pattern with * and ?");
  own.add(ViewOption::kFilter, type->type_name("PATTERN"));
  add_old_name(command, type, "--filter");
  CLI::Option* rows = command.add_option("--rows", heap.top, "number of rows; of an array, number of elements");
  own.add(ViewOption::kTop, rows);
  add_old_name(command, rows, "--top");
  own.add(ViewOption::kByLoader,
          command.add_flag("--by-loader", heap.by_loader, "with the class loader of each class"));
  own.add(ViewOption::kReachable, command.add_flag("--reachable", heap.reachable,
                                                   "only what a collection would keep; of a heap dump or by one"));
  own.add(ViewOption::kDepth,
          command.add_option("--depth", heap.depth, "number of references to follow (0); of dominators: levels (2)")
              ->check(CLI::Range(0, 1000)));
  own.add(ViewOption::kHeap, command.add_flag("--heap", heap.in_events, "include instances and bytes of each class"));
  own.add(ViewOption::kObject,
          command.add_option("--object", heap.objects,
                             "include the object at this address, or begin there; may be repeated"));
  own.add(
      ViewOption::kThreads,
      command.add_option("--threads", heap.threads, "number of threads that walk the heap")->check(CLI::Range(1, 64)));
}

}  // namespace

void add_inspect_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command =
      app.add_subcommand("inspect", "look into a live JVM, a core or a heap dump: threads, flags, classes, heap, ...");
  command
      ->add_option("PID|CORE|HPROF|BUNDLE", arguments->target,
                   "process id, part of a main class, a core file, a heap dump, or a bundle of jtrace diagnose")
      ->required();
  const CLI::Option* view = command->add_option("VIEW", arguments->view, "what to show; see below")->required();
  command->add_option("ARGUMENT", arguments->options.arguments, "argument of the view");
  add_inspect_options(*command, *arguments);
  OwnOptions own;
  add_own_options(*command, *arguments, own);
  command->footer(list_of_views());
  register_word_scopes(*command, std::move(own).scopes_of(view));
  command->callback([arguments, command, &status] { status = run(*arguments, *word_scopes_of(*command)); });
}

}  // namespace jtrace::cli
