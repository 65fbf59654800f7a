// Shared by `jtrace inspect` and `jtrace stack`: opening PID|CORE and printing a view in the common envelope.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cli/command.h"
#include "coreinspect/graph/object_graph.h"
#include "coreinspect/tools/snapshot_events.h"
#include "trace/byte_sink.h"

namespace jtrace::cli {

struct InspectArguments {
  std::string target;
  std::string view;
  std::string format = "text";
  std::string output = "-";
  target::CoreFileOptions files;
  coreinspect::ViewOptions options;
  std::chrono::milliseconds max_stop{200};
};

// A path, or the name of an existing file that is not all digits; otherwise a JVM.
bool is_file_name(const std::string& text);
// The JSON object "target": of a process or core, of a heap dump.
// "complete" and "missing" of the object that is open.
void write_missing(JsonWriter& json, bool complete, const std::vector<std::string>& missing);
void write_target(JsonWriter& json, const coreinspect::Inspection& inspection);
// The whole document of --format json for a view.
std::string view_document(const coreinspect::Inspection& inspection, const coreinspect::View& view,
                          const coreinspect::ViewResult& result);
void write_dump_target(JsonWriter& json, const std::string& path, const coreinspect::ObjectGraph& graph);
// `jtrace stack`, `top`, `profile` and `diagnose` open their target with it too.
Result<std::unique_ptr<coreinspect::Inspection>> open_inspection(const InspectArguments& arguments);
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
// Opens the target, runs the view, prints it; the exit status is kPartial if something is missing.
ExitStatus run_view(const InspectArguments& arguments, const coreinspect::View& view);

}  // namespace jtrace::cli
