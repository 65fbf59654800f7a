// What a JVM says of its own heap, in the shape that `jtrace inspect` says it; and the JVMs that the tests of the heap
// run.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/testlib/jvm_process.h"

namespace jtrace::test {

// A way to run a JVM whose heap is looked at.
struct HeapCase {
  Jdk jdk;
  std::string name;  // "Serial", "G1_compact", ...
  std::vector<std::string> flags;
  bool live_only = false;  // its own histogram counts reachable objects alone
};
std::ostream& operator<<(std::ostream& stream, const HeapCase& heap);
// Each JDK with each collector it has, and once with the shapes of headers and references that differ.
const std::vector<HeapCase>& heap_cases();

struct Counted {
  std::uint64_t instances = 0, bytes = 0;
  bool operator==(const Counted&) const = default;
};
std::ostream& operator<<(std::ostream& stream, const Counted& counted);
using Histogram =
    std::map<std::string, Counted>;  // by class name as the JVM's histogram writes it: "[I", "java.lang.String"

// Of the lines of GC.class_histogram, and of jhsdb jmap --histo.
Histogram parse_class_histogram(const std::string& text);
// Of `jtrace inspect ... histogram --format json`.
Histogram histogram_of_json(const nlohmann::json& document);
// Without what only fills holes: which of them there are changes whenever the JVM is asked.
Histogram without_fillers(Histogram histogram);

}  // namespace jtrace::test
