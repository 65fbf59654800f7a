// jtrace inspect: what is in a live JVM or a core, one view at a time.
#include <unistd.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/commands.h"
#include "cli/inspect_common.h"

namespace jtrace::cli {
namespace {

std::string list_of_views() {
  std::string text = "Views:\n";
  for (const coreinspect::View& view : coreinspect::views()) {
    std::string name = std::string(view.name) + (view.argument.empty() ? "" : " " + std::string(view.argument));
    name.resize(std::max<std::size_t>(name.size(), 16), ' ');
    text += "  " + name + " " + std::string(view.help) + "\n";
  }
  return text + "Example: jtrace inspect core.1234 threads --format json";
}

ExitStatus run(const InspectArguments& arguments) {
  const auto& all = coreinspect::views();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& view) { return view.name == arguments.view; });
  if (found == all.end()) {
    std::vector<std::string_view> names;
    for (const auto& view : all) names.push_back(view.name);
    const auto near = nearest_word(arguments.view, names);
    return report(
        {.category = ErrorCategory::kUsage,
         .text = "no view " + arguments.view,
         .help = near.empty() ? "jtrace inspect --help lists them" : "did you mean " + std::string(near) + "?"});
  }
  if (found->argument.empty() != arguments.options.arguments.empty() || arguments.options.arguments.size() > 1)
    return report({.category = ErrorCategory::kUsage,
                   .text = found->argument.empty()
                               ? "the view " + arguments.view + " takes no argument"
                               : "the view " + arguments.view + " needs " + std::string(found->argument)});
  if (arguments.options.bytes && (arguments.view != "class" || arguments.format != "text"))
    return report({.category = ErrorCategory::kUsage, .text = "--bytes writes a class file: of the view class alone"});
  if (arguments.options.bytes && arguments.output == "-" && ::isatty(STDOUT_FILENO) != 0)
    return report({.category = ErrorCategory::kUsage, .text = "a class file is not for a terminal", .help = "-o FILE"});
  return run_view(arguments, *found);
}

}  // namespace

void add_inspect_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command =
      app.add_subcommand("inspect", "look into a live JVM or a core: threads, flags, classes, code, ...");
  command->add_option("PID|CORE", arguments->target, "process id, part of a main class, or a core file")->required();
  command->add_option("VIEW", arguments->view, "what to show; see below")->required();
  command->add_option("ARGUMENT", arguments->options.arguments, "what the view needs");
  add_inspect_options(*command, *arguments);
  command->add_flag("--all", arguments->options.all, "flags: those at their default too");
  command->add_flag("--bytes", arguments->options.bytes, "class: write its class file");
  command->add_flag("--show-secrets", arguments->options.show_secrets, "do not mask passwords and the like");
  coreinspect::HeapOptions& heap = arguments->options.heap;
  command->add_flag("--no-stop", heap.no_stop, "heap: read a live JVM while it runs; says how much changed meanwhile");
  command->add_option("--sort", heap.sort, "histogram: by bytes (the default), instances or name")
      ->check(CLI::IsMember({"bytes", "instances", "name"}));
  command->add_option("--filter", heap.filter, "histogram: part of a class name, or a pattern with * and ?");
  command->add_option("--top", heap.top, "histogram, refs: this many rows; object: this many elements");
  command->add_flag("--by-loader", heap.by_loader, "histogram: with the class loader of each class");
  command->add_option("--depth", heap.depth, "object: how far references are followed (0)")->check(CLI::Range(0, 1000));
  command->add_flag("--heap", heap.in_events, "events: instances and bytes of each class as well");
  command->add_option("--object", heap.objects, "events: the object at this address as well; may be given again");
  command->add_option("--threads", heap.threads, "heap: how many threads walk it")->check(CLI::Range(1, 64));
  command->footer(list_of_views());
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
