// Words that one argument of a command may be, each with options of its own: the views of `jtrace inspect`. What help,
// completion and tables need to know of them. Threads: one.
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
    std::vector<std::string> words;  // that have it
  };
  const CLI::Option* argument = nullptr;  // which is the word
  std::vector<Word> words;
  std::vector<ScopedOption> options;

  bool is_word(std::string_view word) const;
  // Null: every word has it.
  const ScopedOption* scope_of(const CLI::Option& option) const;
  bool has(std::string_view word, const CLI::Option& option) const;
};

// For as long as the program runs. The help of the command is then that of the word where one was given, and without it
// has no option that some words lack.
void register_word_scopes(CLI::App& command, WordScopes scopes);
// Null: the command has none.
const WordScopes* word_scopes_of(const CLI::App& command);

}  // namespace jtrace::cli
