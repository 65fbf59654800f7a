// Arguments whose words have options of their own: the views of `jtrace inspect`. Used by help, completion and the
// tables. Threads: one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace::cli {

struct WordScopes {
  struct Word {
    std::string name, about;
  };
  struct ScopedOption {
    CLI::Option* option;
    std::vector<std::string> words;  // the words with this option
  };
  const CLI::Option* argument = nullptr;  // the argument that is the word
  std::vector<Word> words;
  std::vector<ScopedOption> options;

  bool is_word(std::string_view word) const;
  // Null: every word has the option.
  const ScopedOption* scope_of(const CLI::Option& option) const;
  bool has(std::string_view word, const CLI::Option& option) const;
};

// Registers for as long as the program runs. The command's help is then that of the given word; without a word it
// leaves out the options that only some words have.
void register_word_scopes(CLI::App& command, WordScopes scopes);
// Null: the command has none.
const WordScopes* word_scopes_of(const CLI::App& command);

}  // namespace jtrace::cli
