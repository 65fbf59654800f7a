#include "cli/heap_shell.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/command.h"
#include "cli/words.h"

namespace jtrace::cli {
namespace {

// The lines of standard input. Not std::cin: its streams and their locale would be set up at every start of jtrace.
class InputLines {
 public:
  InputLines() = default;
  InputLines(const InputLines&) = delete;
  InputLines& operator=(const InputLines&) = delete;
  ~InputLines() { std::free(line_); }

  // False at the end.
  bool next(std::string& line) {
    const ssize_t count = ::getline(&line_, &room_, stdin);
    if (count < 0) return false;
    line.assign(line_, static_cast<std::size_t>(count));
    if (line.ends_with('\n')) line.pop_back();
    return true;
  }

 private:
  char* line_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace

ExitStatus run_shell(const std::function<ExitStatus(const std::vector<std::string>&)>& ask, const std::string& help) {
  const bool prompts = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
  ExitStatus all = ExitStatus::kOk;
  InputLines lines;
  for (std::string line;;) {
    if (prompts) std::fputs("heap> ", stdout);
    std::fflush(stdout);
    if (!lines.next(line)) break;
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
