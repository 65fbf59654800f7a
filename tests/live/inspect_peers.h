// Output of the JDK's own tools about a JVM, in the form of `jtrace inspect`, for comparison.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/testlib/jvm_process.h"

namespace jtrace::test {

// One thread as a thread dump shows it. Frames innermost first.
struct DumpedThread {
  std::vector<std::string> frames;  // "java.lang.Object.wait Object.java:338", "... Native Method"
  std::vector<std::pair<std::size_t, std::string>> locked;  // index of the frame and address
  std::string waiting;                                      // address of what it waits for; "" for nothing
  std::string state;                                        // "WAITING (parking)"
  std::set<std::string> owned;                              // "ADDRESS CLASS": locked ownable synchronizers
  bool operator==(const DumpedThread&) const = default;
};
using Dump = std::map<std::string, DumpedThread>;  // by thread name

// From a Thread.print -l of the JVM itself.
Dump parse_thread_print(const std::string& text);
// From `jhsdb jstack`: "method bci line" of each frame, by thread name; line -1 if there is none.
using BciDump = std::map<std::string, std::vector<std::string>>;
BciDump parse_jhsdb(const std::string& text);

// The same from the JSON of `jtrace inspect ... threads`. Throws what nlohmann::json throws.
Dump dump_of_json(const std::string& json);
BciDump bcis_of_json(const std::string& json);

// Name -> value of VM.flags -all, of VM.system_properties, of PerfCounter.print (only constants have values).
std::map<std::string, std::string> parse_flags(const std::string& text);
std::map<std::string, std::string> parse_properties(const std::string& text);
std::map<std::string, std::string> parse_counters(const std::string& text);
// The rows of a view as key -> value.
std::map<std::string, std::string> rows_of_json(const std::string& json, const std::string& key,
                                                const std::string& value);

// Output of the tool of the JVM's own JDK ("jhsdb", "jcmd"), run in its root; "" if that JDK has none (JDK 8: no
// jhsdb).
std::string run_jdk_tool(const JvmProcess& jvm, const std::string& tool, const std::vector<std::string>& words);

}  // namespace jtrace::test
