// A JVM's own report of its heap, in the form of `jtrace inspect`; and the JVMs for the tests of the heap.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/testlib/jvm_process.h"

namespace jtrace::test {

// A kind of JVM whose heap is tested.
struct HeapCase {
  Jdk jdk;
  std::string name;  // "Serial", "G1_compact", ...
  std::vector<std::string> flags;
  bool live_only = false;  // its own histogram counts only reachable objects
};
std::ostream& operator<<(std::ostream& stream, const HeapCase& heap);
// Each JDK with each of its collectors, and once with each other layout of headers and references.
const std::vector<HeapCase>& heap_cases();

// The document of `jtrace inspect TARGET WORDS --format json`; a live target may be stopped for long.
nlohmann::json inspect_heap(const std::string& target, bool live, std::vector<std::string> words);

// The class path of VisualVM's heap library; "" if it is not unpacked.
std::string visualvm_heap_jars();
// Compiles one of tests/apps against that library into the folder. False, and a failure, if it does not compile.
bool compile_with_visualvm(const Jdk& jdk, const std::string& jars, const std::string& name, const std::string& folder);
// The lines that tests/apps/HprofOracle prints of a dump of HeapZoo, read by that library, each after a line break.
std::string told_by_visualvm(const Jdk& jdk, const std::string& jars, const std::string& dump);

// Moves a dump of all objects by the JVM itself to `path`.
void take_own_dump(const JvmProcess& jvm, const std::string& path);

struct Counted {
  std::uint64_t instances = 0, bytes = 0;
  bool operator==(const Counted&) const = default;
};
std::ostream& operator<<(std::ostream& stream, const Counted& counted);
using Histogram =
    std::map<std::string, Counted>;  // by class name as the JVM's histogram writes it: "[I", "java.lang.String"

// From the lines of GC.class_histogram, and of jhsdb jmap --histo.
Histogram parse_class_histogram(const std::string& text);
// From `jtrace inspect ... histogram --format json`.
Histogram histogram_of_json(const nlohmann::json& document);
// Without fillers of holes, which differ each time the JVM is asked.
Histogram without_fillers(Histogram histogram);

}  // namespace jtrace::test
