#include "cli/heap_shell.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "cli/command.h"
#include "cli/words.h"

namespace jtrace::cli {

ExitStatus run_shell(const std::function<ExitStatus(const std::vector<std::string>&)>& ask, const std::string& help) {
  const bool prompts = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
  ExitStatus all = ExitStatus::kOk;
  for (std::string line;;) {
    if (prompts) std::fputs("heap> ", stdout);
    std::fflush(stdout);
    if (!std::getline(std::cin, line)) break;
    const auto words = split_words(line);
    if (words && words->empty()) continue;
    if (words && (words->front() == "quit" || words->front() == "exit")) return all;
    if (words && words->front() == "help") {
      std::fputs(help.c_str(), stdout);
      continue;
    }
    const ExitStatus status = words ? ask(*words) : report(words.error());
    const bool failed = status != ExitStatus::kOk && status != ExitStatus::kPartial;
    if (all == ExitStatus::kOk || (all == ExitStatus::kPartial && failed)) all = status;
  }
  if (prompts) std::fputc('\n', stdout);
  return all;
}

}  // namespace jtrace::cli
