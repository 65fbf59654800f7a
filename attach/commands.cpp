#include "attach/commands.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/strings.h"

namespace jtrace::attach {
namespace {

bool has(const auto& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Those that change nothing in the JVM; "help" of the diagnostic ones (hotspot/share/services/attachListener.cpp,
// diagnosticCommand.cpp).
constexpr std::array<std::string_view, 5> kReadingOperations = {"threaddump", "properties", "agentProperties",
                                                                "printflag", "getversion"};
constexpr std::array<std::string_view, 6> kOtherOperations = {"inspectheap", "dumpheap", "setflag",
                                                              "datadump",    "load",     "jcmd"};
constexpr std::array<std::string_view, 26> kReadingCommands = {"help",
                                                               "Thread.print",
                                                               "VM.version",
                                                               "VM.uptime",
                                                               "VM.flags",
                                                               "VM.command_line",
                                                               "VM.info",
                                                               "VM.system_properties",
                                                               "VM.native_memory",
                                                               "VM.metaspace",
                                                               "VM.classloaders",
                                                               "VM.classloader_stats",
                                                               "VM.dynlibs",
                                                               "VM.events",
                                                               "VM.symboltable",
                                                               "VM.stringtable",
                                                               "VM.systemdictionary",
                                                               "VM.print_touched_methods",
                                                               "GC.heap_info",
                                                               "GC.finalizer_info",
                                                               "Compiler.codecache",
                                                               "Compiler.codelist",
                                                               "Compiler.queue",
                                                               "JFR.check",
                                                               "ManagementAgent.status",
                                                               "Thread.vthread_summary"};
constexpr std::array<std::string_view, 35> kOtherCommands = {"AOT.end_recording",
                                                             "Compiler.CodeHeap_Analytics",
                                                             "Compiler.directives_add",
                                                             "Compiler.directives_clear",
                                                             "Compiler.directives_print",
                                                             "Compiler.directives_remove",
                                                             "Compiler.memory",
                                                             "Compiler.perfmap",
                                                             "GC.class_histogram",
                                                             "GC.class_stats",
                                                             "GC.heap_dump",
                                                             "GC.run",
                                                             "GC.run_finalization",
                                                             "JFR.configure",
                                                             "JFR.dump",
                                                             "JFR.start",
                                                             "JFR.stop",
                                                             "JFR.view",
                                                             "JVMTI.agent_load",
                                                             "JVMTI.data_dump",
                                                             "ManagementAgent.start",
                                                             "ManagementAgent.start_local",
                                                             "ManagementAgent.stop",
                                                             "System.dump_map",
                                                             "System.map",
                                                             "System.native_heap_info",
                                                             "System.trim_native_heap",
                                                             "Thread.dump_to_file",
                                                             "Thread.vthread_pollers",
                                                             "Thread.vthread_scheduler",
                                                             "VM.cds",
                                                             "VM.class_hierarchy",
                                                             "VM.classes",
                                                             "VM.log",
                                                             "VM.set_flag"};

// Joins the words of a diagnostic command as jcmd does. A word with blanks is quoted, as DCmdParser expects.
std::string join_diagnostic_command(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    const bool quote = word.empty() || word.find(' ') != std::string::npos;
    const char mark = word.find('"') == std::string::npos ? '"' : '\'';
    if (quote) line += mark + word + mark;
    else line += word;
  }
  return line;
}

}  // namespace

bool reads_only(const Request& request) {
  return request.operation == "jcmd" ? has(kReadingCommands, command_of(request)) || request.arguments.empty()
                                     : has(kReadingOperations, request.operation);
}

std::string_view nearest_command(const Request& request) {
  std::vector<std::string_view> known;
  const auto add = [&](const auto& words) { known.insert(known.end(), words.begin(), words.end()); };
  if (request.operation == "jcmd") {
    add(kReadingCommands);
    add(kOtherCommands);
  } else {
    add(kReadingOperations);
    add(kOtherOperations);
  }
  const std::string_view command = command_of(request);
  return has(known, command) ? std::string_view() : nearest_word(command, known);
}

bool may_take_long(const Request& request) {
  constexpr std::array<std::string_view, 6> kLong = {"dumpheap",           "GC.heap_dump", "inspectheap",
                                                     "GC.class_histogram", "load",         "JFR.dump"};
  return has(kLong, command_of(request));
}

bool answers_properties(const Request& request) {
  constexpr std::array<std::string_view, 3> kProperties = {"properties", "agentProperties", "VM.system_properties"};
  return has(kProperties, command_of(request));
}

bool answers_command_line(const Request& request) {
  constexpr std::array<std::string_view, 4> kCommands = {"VM.command_line", "VM.flags", "VM.info", "printflag"};
  return has(kCommands, command_of(request));
}

Request request_of_words(const std::vector<std::string>& words) {
  Request request{.operation = words.front()};
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (request.operation == "jcmd")
    request.arguments = {join_diagnostic_command(rest.empty() ? std::vector<std::string>{"help"} : rest)};
  else request.arguments = rest;
  return request;
}

}  // namespace jtrace::attach
