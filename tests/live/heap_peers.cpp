#include "tests/live/heap_peers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "base/file.h"
#include "tests/testlib/java_programs.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

// "int[][]" as "[[I", "java.lang.String[]" as "[Ljava.lang.String;".
std::string jvm_name(std::string name) {
  std::string dimensions;
  for (; name.ends_with("[]"); name.resize(name.size() - 2)) dimensions += '[';
  if (dimensions.empty()) return name;
  static const std::map<std::string, std::string> primitives = {{"boolean", "Z"}, {"byte", "B"},  {"char", "C"},
                                                                {"short", "S"},   {"int", "I"},   {"long", "J"},
                                                                {"float", "F"},   {"double", "D"}};
  const auto primitive = primitives.find(name);
  return dimensions + (primitive != primitives.end() ? primitive->second : "L" + name + ";");
}

std::vector<HeapCase> cases_of(const Jdk& jdk) {
  std::vector<HeapCase> cases;
  for (const Collector collector : jdk.collectors()) {
    // With less than 192 MiB the ZGC of JDK 11 runs out of memory, and a core has each of its pages three times.
    if (collector == Collector::kZ && jdk.version < 17) continue;
    const bool live = collector == Collector::kZ || collector == Collector::kShenandoah;
    cases.push_back({jdk, std::string(to_string(collector)), jdk.collector_flags(collector), live});
  }
  if (jdk.has_flag("UseConcMarkSweepGC")) cases.push_back({jdk, "CMS", {"-XX:+UseConcMarkSweepGC"}});
  if (jdk.has_flag("UseEpsilonGC"))
    cases.push_back({jdk, "Epsilon", {"-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"}});
  if (jdk.version == 21) cases.push_back({jdk, "ZGenerational", {"-XX:+UseZGC", "-XX:+ZGenerational"}, true});
  if (jdk.version == 25)
    cases.push_back({jdk,
                     "G1_compact_headers",
                     {"-XX:+UseG1GC", "-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"}});
  if (jdk.version < 27)
    cases.push_back({jdk, "G1_wide", {"-XX:+UseG1GC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"}});
  cases.push_back({jdk, "Parallel_aligned", {"-XX:+UseParallelGC", "-XX:ObjectAlignmentInBytes=64"}});
  return cases;
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const HeapCase& heap) {
  return stream << heap.jdk.name << "_" << heap.name;
}
std::ostream& operator<<(std::ostream& stream, const Counted& counted) {
  return stream << counted.instances << " instances, " << counted.bytes << " bytes";
}

const std::vector<HeapCase>& heap_cases() {
  static const std::vector<HeapCase> all = [] {
    std::vector<HeapCase> cases;
    for (const Jdk& jdk : jdks()) {
      const auto of_jdk = cases_of(jdk);
      cases.insert(cases.end(), of_jdk.begin(), of_jdk.end());
    }
    return cases;
  }();
  return all;
}

nlohmann::json inspect_heap(const std::string& target, bool live, std::vector<std::string> words) {
  words.insert(words.begin(), {"inspect", target});
  words.insert(words.end(), {"--format", "json"});
  if (live) words.insert(words.end(), {"--max-stop", "20000"});
  const auto done = must(run_jtrace(words));
  EXPECT_TRUE(nlohmann::json::accept(done.out)) << done.err;
  return nlohmann::json::accept(done.out) ? nlohmann::json::parse(done.out) : nlohmann::json::object();
}

void take_own_dump(const JvmProcess& jvm, const std::string& path) {
  const std::string inside = "/tmp/jtrace-test-" + jvm.pid_text() + ".hprof";
  const auto done = must(run_jtrace({"cmd", jvm.pid_text(), "dumpheap", inside, "-all"}));
  EXPECT_EQ(done.status, 0) << done.err;
  const std::string seen = jvm.inside(inside);
  EXPECT_TRUE(std::filesystem::copy_file(seen, path));
  std::filesystem::remove(seen);
}

Histogram parse_class_histogram(const std::string& text) {
  static const std::regex row(R"(^\s*\d+:\s+(\d+)\s+(\d+)\s+(\S+))");
  Histogram histogram;
  std::istringstream lines(text);
  std::smatch parts;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_search(line, parts, row)) continue;
    Counted& counted = histogram[jvm_name(parts[3])];
    counted.instances += std::stoull(parts[1]);
    counted.bytes += std::stoull(parts[2]);
  }
  return histogram;
}

Histogram histogram_of_json(const nlohmann::json& document) {
  Histogram histogram;
  for (const auto& row : document.at("data")) {
    Counted& counted = histogram[jvm_name(row.at("class"))];
    counted.instances += row.at("instances").get<std::uint64_t>();
    counted.bytes += row.at("bytes").get<std::uint64_t>();
  }
  return histogram;
}

Histogram without_fillers(Histogram histogram) {
  for (const char* name :
       {"[I", "java.lang.Object", "[Ljdk.internal.vm.FillerElement;", "jdk.internal.vm.FillerObject"})
    histogram.erase(name);
  return histogram;
}

std::string visualvm_heap_jars() {
  std::string jars;
  for (const std::string& jar : visualvm_jars())
    if (jar.find("/modules/") != std::string::npos && jar.find("jfluid") != std::string::npos) jars += jar + ":";
  return jars;
}

bool compile_with_visualvm(const Jdk& jdk, const std::string& jars, const std::string& name,
                           const std::string& folder) {
  const std::string source = source_folder() + "/tests/apps/" + name + ".java";
  const auto compiled = must(run_command({jdk.host_path("bin/javac"), "-nowarn", "-d", folder, "-cp", jars, source}));
  EXPECT_EQ(compiled.status, 0) << compiled.err;
  return compiled.status == 0;
}

std::string told_by_visualvm(const Jdk& jdk, const std::string& jars, const std::string& dump) {
  const ScratchDir folder;
  compile_with_visualvm(jdk, jars, "HprofOracle", folder.path());
  const auto told = must(run_command({jdk.host_path("bin/java"), "-cp", folder.path() + ":" + jars, "HprofOracle", dump,
                                      "HeapZoo$Node", "HeapZoo$Target"}));
  EXPECT_EQ(told.status, 0) << told.err;
  return "\n" + told.out;
}

}  // namespace jtrace::test
