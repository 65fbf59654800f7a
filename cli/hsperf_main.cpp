// hsperf: every counter of every JVM.
#include "cli/hsperf_commands.h"
#include "cli/task_map.h"

int main(int argc, char** argv) {
  jtrace::set_program_name("hsperf");
  CLI::App& app = *new CLI::App("reads the performance counters of HotSpot JVMs from outside", "hsperf");
  jtrace::ExitStatus status = jtrace::ExitStatus::kOk;
  for (jtrace::cli::AddCommand add : jtrace::cli::kHsperfCommands) add(app, status);

  std::vector<std::string> words = jtrace::cli::stat_words({argv + 1, argv + argc});
  std::vector<char*> arguments = {argv[0]};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return jtrace::cli::run_program(app, status, static_cast<int>(words.size()) + 1, arguments.data(),
                                  jtrace::cli::counter_map);
}
