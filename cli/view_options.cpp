#include "cli/view_options.h"

#include <algorithm>

#include "base/joined.h"
#include "base/strings.h"
#include "cli/one_of.h"
#include "cli/units.h"

namespace jtrace::cli {

using coreinspect::View;
using coreinspect::ViewOption;

std::string list_of_views(const ViewChoice& is_chosen, const std::vector<std::pair<std::string, std::string>>& others) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const View& view : coreinspect::views())
    if (is_chosen(view))
      rows.emplace_back(std::string(view.name) + (view.argument.empty() ? "" : " " + std::string(view.argument)),
                        view.help);
  rows.insert(rows.end(), others.begin(), others.end());
  std::size_t width = 0;
  for (const auto& [name, help] : rows) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, help] : rows)
    text += "  " + name + std::string(width - name.size(), ' ') + "  " + help + "\n";
  return text;
}

Result<const View*> named_view(const std::string& name, const ViewChoice& is_chosen, const std::string& command,
                               const std::string& target) {
  const auto found = [&](const std::string& word) {
    const View* view = coreinspect::find_view(word);
    return view != nullptr && is_chosen(*view) ? view : nullptr;
  };
  if (const View* view = found(name)) return view;
  if (found(target) != nullptr)
    return fail(ErrorCategory::kUsage, "no view " + name,
                "the target comes first: " + command + " " + name + " " + target);
  std::vector<std::string_view> names;
  for (const View& view : coreinspect::views())
    if (is_chosen(view)) names.push_back(view.name);
  const auto near = nearest_word(name, names);
  return fail(ErrorCategory::kUsage, "no view " + name,
              near.empty() ? command + " --help lists them" : "did you mean " + std::string(near) + "?");
}

Result<> check_view(const View& view, const InspectArguments& arguments, const WordScopes& scopes) {
  const std::string name(view.name);
  for (const auto& [option, words] : scopes.options)
    if (option->count() > 0 && !scopes.has(view.name, *option))
      return fail(ErrorCategory::kUsage, "the view " + name + " has no option --" + option->get_lnames().front(),
                  "it is one of " + joined(words));
  if (view.argument.empty() != arguments.options.arguments.empty() || arguments.options.arguments.size() > 1)
    return fail(ErrorCategory::kUsage, view.argument.empty()
                                           ? "the view " + name + " takes no argument"
                                           : "the view " + name + " needs " + std::string(view.argument));
  return {};
}

OwnOptions::OwnOptions(ViewChoice is_chosen) : is_chosen_(std::move(is_chosen)) {
  for (const View& view : coreinspect::views())
    if (is_chosen_(view))
      scopes_.words.push_back(
          {std::string(view.name),
           (view.argument.empty() ? "" : "(with " + std::string(view.argument) + ") ") + std::string(view.help)});
}

void OwnOptions::add(ViewOption which, CLI::Option* option, const std::vector<std::string>& other_words) {
  std::vector<std::string> names = other_words;
  for (const View& view : coreinspect::views())
    if (is_chosen_(view) && view.has(which)) names.emplace_back(view.name);
  scopes_.options.push_back({option, std::move(names)});
}

void add_heap_options(CLI::App& command, InspectArguments& arguments, OwnOptions& own,
                      const std::vector<std::string>& words, const std::vector<std::string>& by_words) {
  coreinspect::ViewOptions& options = arguments.options;
  coreinspect::HeapOptions& heap = options.heap;
  own.add(ViewOption::kShowSecrets,
          command.add_flag("--show-secrets", options.show_secrets, "do not mask passwords and other secrets"));
  own.add(ViewOption::kNoStop,
          command.add_flag("--no-stop", heap.no_stop,
                           "read the heap of a live JVM while it runs, which may change what is being read"),
          words);
  own.add(ViewOption::kSubclasses, command.add_flag("--subclasses", heap.subclasses, "objects of its subclasses too"));
  own.add(ViewOption::kBy,
          command
              .add_option("--by", heap.by,
                          "a row for each class (the default), package, loader or thread; of diff: class, package, "
                          "loader or path, which is by what keeps it")
              ->check(one_of({"class", "package", "loader", "thread", "path"})),
          by_words);
  own.add(ViewOption::kByClass, command.add_flag("--by-class", heap.by_class, "the objects of a class merged"));
  own.add(ViewOption::kByLoader,
          command.add_flag("--by-loader", heap.by_loader, "with the class loader of each class"));
  own.add(ViewOption::kReachable,
          command.add_flag("--reachable", heap.reachable,
                           "only what a collection would keep: of a heap dump, or of a JVM by means of one"));
  own.add(ViewOption::kDuration,
          add_time(command, "--duration", heap.duration,
                   "look at a live JVM three times within this time: what grew each time, and how fast",
                   {.least = std::chrono::seconds(1)}));
  own.add(ViewOption::kDepth,
          command.add_option("--depth", heap.depth, "number of references to follow (0); of dominators: levels (2)")
              ->check(CLI::Range(0, 1000)));
  own.add(ViewOption::kObject,
          command.add_option("--object", heap.objects,
                             "include the object at this address, or begin there; may be repeated"));
  own.add(
      ViewOption::kThreads,
      command.add_option("--threads", heap.threads, "number of threads that walk the heap")->check(CLI::Range(1, 64)),
      words);
}

}  // namespace jtrace::cli
