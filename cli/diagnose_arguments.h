// The options of `jtrace diagnose`, and which of them go together.
#pragma once

#include <chrono>
#include <string>

#include "cli/inspect_common.h"

namespace jtrace::cli {

struct DiagnoseArguments {
  InspectArguments inspect;
  std::string later;   // the bundle that `inspect.target` is compared with
  std::string output;  // of the bundle; "" for none
  std::chrono::milliseconds interval{1000}, budget{3000};
  bool core = false;
  bool anonymize = false;
  bool watch = false;
  std::string when;                    // "" until something is found
  std::chrono::milliseconds every{0};  // 0: by what is waited for
};

// For a process, whatever the command line calls it.
InspectArguments of_process(const DiagnoseArguments& arguments, pid_t pid);
// What is missing or does not go together: kUsage.
Result<> check_diagnose(const DiagnoseArguments& arguments);
void add_diagnose_options(CLI::App& command, DiagnoseArguments& arguments);

}  // namespace jtrace::cli
