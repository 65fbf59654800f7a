#include "cli/word_scopes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/unit_lines.h"

namespace jtrace::cli {
namespace {

std::map<const CLI::App*, WordScopes>& all_scopes() {
  static std::map<const CLI::App*, WordScopes> all;
  return all;
}

// The word for which help is asked: at its position, or anywhere if the words before it are missing.
std::string given_word(const CLI::App& command, const WordScopes& scopes) {
  std::string found;
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional())
      for (const std::string& word : option->results())
        if ((found.empty() || option == scopes.argument) && scopes.is_word(word)) found = word;
  return found;
}

std::string help_of(CLI::App& command, const std::string& name, CLI::AppFormatMode mode) {
  const WordScopes& scopes = *word_scopes_of(command);
  const std::string word = given_word(command, scopes);
  for (const auto& [option, words] : scopes.options)
    option->group(!word.empty() && scopes.has(word, *option) ? "Options" : "");
  if (!word.empty()) {
    const auto found = std::find_if(scopes.words.begin(), scopes.words.end(),
                                    [&](const WordScopes::Word& each) { return each.name == word; });
    command.description(word + ": " + found->about);
    command.footer(name + " --help lists the others.");
  }
  return help_form()->make_help(&command, name, mode);
}

}  // namespace

bool WordScopes::is_word(std::string_view word) const {
  return std::any_of(words.begin(), words.end(), [&](const Word& each) { return each.name == word; });
}

const WordScopes::ScopedOption* WordScopes::scope_of(const CLI::Option& option) const {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const ScopedOption& each) { return each.option == &option; });
  return found == options.end() ? nullptr : &*found;
}

bool WordScopes::has(std::string_view word, const CLI::Option& option) const {
  const ScopedOption* scope = scope_of(option);
  return scope == nullptr || std::find(scope->words.begin(), scope->words.end(), word) != scope->words.end();
}

void register_word_scopes(CLI::App& command, WordScopes scopes) {
  all_scopes().insert_or_assign(&command, std::move(scopes));
  command.formatter_fn([&command](const CLI::App*, const std::string& name, CLI::AppFormatMode mode) {
    return help_of(command, name, mode);
  });
}

const WordScopes* word_scopes_of(const CLI::App& command) {
  const auto found = all_scopes().find(&command);
  return found == all_scopes().end() ? nullptr : &found->second;
}

}  // namespace jtrace::cli
