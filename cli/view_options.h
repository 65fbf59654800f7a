// The options that only some views have, for `jtrace inspect` and `jtrace heap`: added, and checked against the view
// that is asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/inspect_common.h"
#include "cli/word_scopes.h"
#include "coreinspect/tools/views.h"

namespace jtrace::cli {

// Chooses the views of a command.
using ViewChoice = std::function<bool(const coreinspect::View&)>;

// The view of that name; kUsage with the nearest name if there is none, or with the right order if `target` is one.
// `command`: "jtrace inspect".
Result<const coreinspect::View*> named_view(const std::string& name, const ViewChoice& is_chosen,
                                            const std::string& command, const std::string& target);
// The number of arguments, and options that this view does not have.
Result<> check_view(const coreinspect::View& view, const InspectArguments& arguments, const WordScopes& scopes);

class OwnOptions {
 public:
  explicit OwnOptions(ViewChoice is_chosen);
  // A word that is not a view, and has options.
  void add_word(std::string name, std::string about) { scopes_.words.push_back({std::move(name), std::move(about)}); }
  void add(coreinspect::ViewOption which, CLI::Option* option, const std::vector<std::string>& other_words = {});
  WordScopes scopes_of(const CLI::Option* argument) && {
    scopes_.argument = argument;
    return std::move(scopes_);
  }

 private:
  ViewChoice is_chosen_;
  WordScopes scopes_;
};

// Those of the walks over a heap, and of what is shown of it.
// `words`: words that are no views, and have the options of how the heap is read; `by_words`: those that have --by.
void add_heap_options(CLI::App& command, InspectArguments& arguments, OwnOptions& own,
                      const std::vector<std::string>& words = {}, const std::vector<std::string>& by_words = {});

// "  NAME ARGUMENT  help" for each, then for each of `others` (name, help); as wide as the widest name.
std::string list_of_views(const ViewChoice& is_chosen,
                          const std::vector<std::pair<std::string, std::string>>& others = {});

}  // namespace jtrace::cli
