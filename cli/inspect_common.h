// Shared by the commands that look into PID|CORE: the target, the output, and their options.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cli/command.h"
#include "coreinspect/tools/snapshot_events.h"
#include "trace/byte_sink.h"

namespace jtrace::cli {

struct InspectArguments {
  std::string target;
  std::string view;
  std::string format = "text";
  bool format_given = false;  // by --format; otherwise the name of the output decides (answer_format.h)
  std::string output = "-";
  target::CoreFileOptions files;
  coreinspect::ViewOptions options;
  std::chrono::milliseconds max_stop{200};
};

// A path, or the name of an existing file that is not all digits; otherwise a JVM.
bool is_file_name(const std::string& text);
// `jtrace stack`, `top`, `profile` and `diagnose` open their target with it too.
Result<std::unique_ptr<coreinspect::Inspection>> open_inspection(const InspectArguments& arguments);
// A --libjvm or --sysroot that does not fit a core, if the answer lacks nothing for that: after the answer.
void note_unused_option(const coreinspect::Inspection& inspection);
// The file appears when it is complete; "-" is stdout.
Result<std::unique_ptr<trace::ByteSink>> open_whole_output(const std::string& path);
// The identity of the target for node and processCreate.
coreinspect::SnapshotIdentity identity_of(const coreinspect::Inspection& inspection, bool show_secrets);
// --format, -o, --sysroot, --libjvm.
void add_inspect_options(CLI::App& command, InspectArguments& arguments);
// --max-stop; `help` says what is stopped, and the default.
CLI::Option* add_max_stop(CLI::App& command, InspectArguments& arguments, const std::string& help);
// The same with the words of the views.
CLI::Option* add_max_stop(CLI::App& command, InspectArguments& arguments);

}  // namespace jtrace::cli
