// jtrace: one subcommand, one file (command_NAME.cpp).
#include <algorithm>
#include <csignal>
#include <iterator>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/summaries.h"
#include "cli/task_map.h"
#include "cli/word_hints.h"

namespace {

// "help COMMAND" is "COMMAND --help". Never freed, as argv.
std::vector<char*>& words_of(int argc, char** argv) {
  static char help[] = "--help";
  auto& words = *new std::vector<char*>(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    words.push_back(help);
  }
  words.push_back(nullptr);
  return words;
}

// For the program's own help, for no command, and for options that it does not have.
void add_names(CLI::App& app) {
  for (const jtrace::cli::Summary& each : jtrace::cli::kSummaries)
    if (*each.text != 0) app.add_subcommand(std::string(each.command), each.text);
}

void add_all(CLI::App& app, jtrace::ExitStatus& status) {
  for (const jtrace::cli::NamedCommand& command : jtrace::cli::kCommands) command.add(app, status);
}

static_assert(std::equal(std::begin(jtrace::cli::kCommands), std::end(jtrace::cli::kCommands),
                         std::begin(jtrace::cli::kSummaries), std::end(jtrace::cli::kSummaries),
                         [](const auto& command, const auto& summary) { return command.name == summary.command; }));

}  // namespace

int main(int argc, char** argv) {
  argv = words_of(argc, argv).data();  // as many words as before
  // A file size limit (ulimit -f) is an error like any other: write() says EFBIG.
  std::signal(SIGXFSZ, SIG_IGN);
  // Never destroyed: the process ends with it.
  CLI::App& app = *new CLI::App("looks into HotSpot JVMs from outside", "jtrace");
  jtrace::ExitStatus status = jtrace::ExitStatus::kOk;
  // The setup of every command's options takes longer than most commands run.
  const std::string_view word = argc > 1 ? argv[1] : "";
  const auto is_it = [&](const jtrace::cli::NamedCommand& command) { return command.name == word; };
  const auto* const command = std::find_if(std::begin(jtrace::cli::kCommands), std::end(jtrace::cli::kCommands), is_it);
  if (command != std::end(jtrace::cli::kCommands)) command->add(app, status);
  else if (argc > 2 || (argc == 2 && !word.starts_with("-"))) add_all(app, status);
  else if (word != "--version") add_names(app);
  return jtrace::cli::run_program(app, status, argc, argv, jtrace::cli::task_map, jtrace::cli::hint_of_word);
}
