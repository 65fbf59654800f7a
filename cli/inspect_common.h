// What `jtrace inspect` and `jtrace stack` share: opening PID|CORE and printing a view in the common envelope.
#pragma once

#include <memory>
#include <string>

#include "cli/command.h"
#include "coreinspect/tools/inspection.h"

namespace jtrace::cli {

struct InspectArguments {
  std::string target;
  std::string view;
  std::string format = "text";
  target::CoreFileOptions files;
  coreinspect::ViewOptions options;
  int max_stop_ms = 200;
};

void add_inspect_options(CLI::App& command, InspectArguments& arguments);
// Opens the target, runs the view, prints it; the exit status is kPartial where something is missing from it.
ExitStatus run_view(const InspectArguments& arguments, const coreinspect::View& view);

}  // namespace jtrace::cli
