#include "cli/command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <sstream>

#include "base/joined.h"
#include "base/strings.h"
#include "cli/completion.h"
#include "cli/one_of.h"
#include "cli/option_tables.h"
#include "cli/unit_lines.h"
#include "cli/units.h"
#include "cli/version.h"
#include "cli/word_scopes.h"

namespace jtrace::cli {
namespace {

// The command in the arguments, or the program itself.
const CLI::App* named_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return command;
}

std::string help_of(const CLI::App& app) {
  const CLI::App* command = named_command(app);
  return "; see " + app.get_name() + (command == &app ? "" : " " + command->get_name()) + " --help";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string_view nearest = nearest_word(word, {known.begin(), known.end()});
  return nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?";
}

using HintOf = std::string (*)(std::string_view);

std::string unknown_command(const CLI::App& app, const std::string& word, HintOf hint_of) {
  if (const std::string hint = hint_of == nullptr ? "" : hint_of(word); !hint.empty())
    return "unknown command '" + word + "': " + hint;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); }))
    names.push_back(command->get_name());
  return "unknown command '" + word + "'" + did_you_mean(word, names);
}

// The word in the place of the command, if it is none; "" otherwise. A word after it may well be one (`jtrace inspct 1
// heap`), and must not be taken for it.
std::string misspelt_command(const CLI::App& app, std::span<char*> words) {
  const auto is_plain = [](std::string_view word) {
    return word == "-q" || word == "--quiet" || word == "-v" || word == "--verbose";
  };
  const auto word = std::find_if_not(words.begin(), words.end(), is_plain);
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const bool is_known = word == words.end() || std::string_view(*word).starts_with("-") ||
                        std::any_of(commands.begin(), commands.end(),
                                    [&](const CLI::App* command) { return command->get_name() == *word; });
  return is_known ? "" : *word;
}

// Of other tools, for what is an option here too.
constexpr std::pair<std::string_view, std::string_view> kOtherWords[] = {
    {"--top", "--rows"},   {"--limit", "--rows"},       {"--lines", "--rows"},
    {"--count", "--rows"}, {"--time", "--duration"},    {"--json", "--format"},
    {"--csv", "--format"}, {"--seconds", "--duration"}, {"--out", "--output"}};

std::string other_word(std::string_view word, const std::vector<std::string>& known) {
  for (const auto& [theirs, ours] : kOtherWords)
    if (word == theirs && std::find(known.begin(), known.end(), ours) != known.end())
      return "; did you mean '" + std::string(ours) + (ours == "--format" ? " " + std::string(word.substr(2)) : "") +
             "'?";
  return {};
}

// Of the command, then of all commands.
std::vector<std::string> option_names(const CLI::App& app, const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* owner : {&command, &app})
    for (const CLI::Option* known : owner->get_options())
      if (is_shown(*known))
        for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string unknown_option(const CLI::App& app, const CLI::App& command, std::string word) {
  const std::vector<std::string> names = option_names(app, command);
  word.resize(std::min(word.size(), word.find('=')));
  const std::string other = other_word(word, names);
  return "unknown option '" + word + "'" + (other.empty() ? did_you_mean(word, names) : other);
}

bool is_option(const std::string& word) { return word.starts_with("-") && word != "--" && word != "-"; }

// The message about the first unexpected word, with a suggestion.
std::string unexpected_words(const CLI::App& app, const CLI::ParseError& error, HintOf hint_of) {
  const CLI::App* command = named_command(app);
  std::vector<std::string> words = app.remaining(true);
  std::erase(words, "--");
  // After an unknown command any word may come.
  if (command == &app && !words.empty() && !words.front().starts_with("-"))
    return unknown_command(app, words.front(), hint_of);
  const auto option = std::find_if(words.begin(), words.end(), is_option);
  if (option != words.end()) return unknown_option(app, *command, *option);
  if (words.empty() || command == &app) return error.what();
  return "'" + words.front() + "' is one word too many for " + app.get_name() + " " + command->get_name();
}

// CLI11 says "--duration: At Most 1 required but received 2".
std::string mismatch(const CLI::ArgumentMismatch& error) {
  constexpr std::string_view kTooMany = ": At Most 1 required but received ";
  const std::string text = error.what();
  const std::size_t at = text.find(kTooMany);
  if (at == text.npos) return text;
  const std::string times = text.substr(at + kTooMany.size());
  return text.substr(0, at) + " is given " + (times == "2" ? "twice" : times + " times") + "; it takes one value";
}

// What is missing may have been misspelt.
bool has_unknown_option(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  return std::any_of(words.begin(), words.end(), is_option);
}

std::string text_of(const CLI::App& app, const CLI::ParseError& error, HintOf hint_of) {
  const bool is_unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool names_words = is_unexpected || (is_missing && has_unknown_option(app));
  if (names_words) return unexpected_words(app, error, hint_of) + help_of(app);
  const auto* count = dynamic_cast<const CLI::ArgumentMismatch*>(&error);
  return (count != nullptr ? mismatch(*count) : error.what()) + help_of(app);
}

// Whether an end of the command line cannot mend what is wrong with its beginning.
bool is_final(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return true;
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return true;
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return true;
  return dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && has_unknown_option(app);
}

// What is wrong with the first wrong word: CLI11 checks values before it looks for words that it does not know, and the
// options in the order of their definition. So the shortest beginning of the words that is wrong is parsed again.
std::string first_fault(CLI::App& app, const CLI::ParseError& error, std::span<char*> words, HintOf hint_of) {
  const std::string whole = text_of(app, error, hint_of);
  app.parse_complete_callback([] { throw CLI::Success(); });  // so that no command is run
  for (std::size_t count = 1; count < words.size(); ++count) {
    try {
      const auto beginning = words.first(count);
      app.parse(std::vector<std::string>(beginning.rbegin(), beginning.rend()));
    } catch (const CLI::ParseError& of_beginning) {
      if (is_final(app, of_beginning)) return text_of(app, of_beginning, hint_of);
    }
  }
  return whole;
}

int print_all(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) == 0) return static_cast<int>(ExitStatus::kOk);
  return static_cast<int>(report(system_error("cannot write", "standard output")));
}

bool reader_is_gone() {
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

// What could not be printed is an error also if an earlier write failed, which the last flush does not repeat. A status
// that says more than "done" stays.
ExitStatus status_after_output(ExitStatus status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  if (reader_is_gone()) return status;
  const ExitStatus failed = report({.category = ErrorCategory::kSystem,
                                    .text = "cannot write all of the result to standard output",
                                    .help = "is its disk full?"});
  return status == ExitStatus::kOk ? failed : status;
}

// The two words that programs use, not people: completions() and option_tables().
int print_tables(const CLI::App& app, std::vector<std::string> words) {
  std::string text;
  if (words.front() == "__tables") text = option_tables(app);
  else if (words.size() > 1 && words[1] == "--") text = completions(app, {words.begin() + 2, words.end()});
  return print_all(text);
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string all = joined(words);
  // As CLI11 writes it for its own check: what completion and the pages of reference read.
  const std::string type = "{" + CLI::detail::join(words, ",") + "}";
  return CLI::Validator(
      [words = std::move(words), all](const std::string& word) {
        if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
        return "'" + word + "' is not one of " + all + did_you_mean(word, words);
      },
      type);
}

int run_program(CLI::App& app, ExitStatus& status, int argc, char** argv, std::string (*text_without)(const CLI::App&),
                HintOf hint_of) {
  app.set_version_flag("--version", [&app] { return version_text(app.get_name()); });
  app.add_flag_callback(
      "-q,--quiet", [] { set_log_level(LogLevel::kError); }, "errors only");
  app.add_flag_callback(
      "-v,--verbose", [] { set_log_level(LogLevel::kDebug); }, "print what is being done");
  app.require_subcommand(0, 1);
  const std::string_view word = argc > 1 ? argv[1] : "";
  const bool for_tables = word == "__complete" || word == "__tables";
  if (for_tables || word == "completion" || word == "--help" || argc < 2) add_completion_command(app, status);
  if (for_tables) return print_tables(app, {argv + 1, argv + argc});
  // Options of all commands may also come after the command's name, except where any words may come.
  const auto form = help_form();
  for (CLI::App* command : app.get_subcommands({})) {
    if (word_scopes_of(*command) == nullptr) command->formatter(form);
    if (!command->get_prefix_command()) command->fallthrough();
    // An option that may be repeated takes one word each time: the word after it may be the PID.
    for (CLI::Option* option : command->get_options({}))
      if (!option->get_positional()) option->allow_extra_args(false);
  }
  const auto given = std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0);
  if (const std::string unknown = misspelt_command(app, given); !unknown.empty()) {
    log_error(unknown_command(app, unknown, hint_of) + help_of(app));
    return static_cast<int>(ExitStatus::kUsage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    std::ostringstream text;
    app.exit(done, text, text);
    return print_all(text.str());
  } catch (const CLI::ParseError& error) {
    log_error(first_fault(app, error, given, hint_of));
    return static_cast<int>(ExitStatus::kUsage);
  }
  if (app.get_subcommands().empty()) {
    if (text_without != nullptr) return print_all(text_without(app));
    std::fputs(app.help().c_str(), stdout);
    return static_cast<int>(ExitStatus::kUsage);
  }
  return static_cast<int>(status_after_output(status));
}

}  // namespace jtrace::cli
