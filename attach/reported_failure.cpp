#include <algorithm>

#include "attach/protocol.h"
#include "base/strings.h"

namespace jtrace::attach {
namespace {

struct Pattern {
  std::string_view command;  // the operation, or jcmd's first word
  std::string_view text;     // a line that contains it is a failure
};

// Texts of hotspot/share/services (attachListener.cpp, diagnosticCommand.cpp, heapDumper.cpp, writeableFlags.cpp), of
// jdk.jfr's dcmd package and of jdk.internal.vm.ThreadDumper, JDK 8 to 27. tests/live/attach_live_test.cpp provokes
// them.
constexpr Pattern kPatterns[] = {
    {"printflag", "no such flag"},
    {"printflag", "flag name is missing"},
    {"VM.set_flag", "does not exist"},
    {"VM.set_flag", "flags can be set"},
    {"VM.set_flag", "flag value"},
    {"VM.set_flag", "cannot be changed"},
    {"VM.native_memory", "Native memory tracking is not enabled"},
    {"VM.cds", "should run with"},
    {"VM.cds", "Failed"},
    {"VM.log", "Error opening log file"},
    {"VM.log", "Initialization of output"},
    {"Compiler.directives_add", "Could not load file"},
    {"Compiler.perfmap", "Failed to create"},
    {"System.dump_map", "Failed to open"},
    {"Thread.dump_to_file", "Failed: "},
    {"Thread.dump_to_file", "exists, use -overwrite"},
    {"JFR.start", "Could not start"},
    {"JFR.stop", "Could not stop"},
    {"JFR.stop", "No available recordings"},
    {"JFR.stop", "Could not find"},
    {"JFR.dump", "Could not dump"},
    {"JFR.dump", "Could not find"},
    {"JFR.dump", "No available recordings"},
    {"JFR.dump", "No recordings to dump from"},
    {"JFR.dump", "Dump failed"},
    {"JFR.check", "Could not find"},
    {"JFR.configure", "Could not"},
};

// Every JDK reports a written heap dump with the same text. The texts of failures differ too much (JDK 8: "FILE: No
// such file or directory").
std::optional<std::string> heap_dump_failure(std::string_view data) {
  if (data.find("Heap dump file created") != data.npos) return std::nullopt;
  std::string last = "it reported no file";
  for (std::string_view line : split(data, '\n'))
    if (!trimmed(line).empty()) last = trimmed(line);
  return last;
}

}  // namespace

std::string_view command_of(const Request& request) {
  const bool diagnostic = request.operation == "jcmd" && !request.arguments.empty();
  const std::string_view command = diagnostic ? std::string_view(request.arguments.front()) : request.operation;
  return command.substr(0, command.find(' '));
}

std::optional<std::string> reported_failure(const Request& request, std::string_view data) {
  const std::string_view command = command_of(request);
  if (command == "dumpheap" || command == "GC.heap_dump") return heap_dump_failure(data);
  if (std::none_of(std::begin(kPatterns), std::end(kPatterns), [&](const Pattern& p) { return p.command == command; }))
    return std::nullopt;
  for (std::string_view line : split(data, '\n'))
    for (const Pattern& pattern : kPatterns)
      if (pattern.command == command && line.find(pattern.text) != line.npos) return std::string(trimmed(line));
  return std::nullopt;
}

}  // namespace jtrace::attach
