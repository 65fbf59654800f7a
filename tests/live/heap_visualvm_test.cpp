// Retained sizes of all objects of a heap dump, compared one by one with those of VisualVM's library.
//
// It has other rules for what holds what (docs/heap.md); with its rules, the sizes must be equal but for a few objects
// of java.lang.invoke. The rules, from its source (org.graalvm.visualvm.lib.jfluid.heap):
// - only the first instance of each class holds its class; a class holds its statics and its loader, no superclass,
//   signers or protection domain
// - the referent of a Reference is not followed, but counts as a holder where something else holds the object too
// - garbage counts as a holder: what it refers to has no single holder
// - all objects that frames and JNI hold are roots; they are not held by their threads
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <unordered_map>

#include "base/file.h"
#include "coreinspect/graph/heap_tree.h"
#include "tests/live/heap_peers.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using coreinspect::HprofFile;
using coreinspect::kNoObject;
using coreinspect::ObjectGraph;

// The edges of a graph by VisualVM's rules, straight from the dump.
class TheirEdges {
 public:
  explicit TheirEdges(const ObjectGraph& graph) : graph_(graph), rows_(graph.size()) {
    std::vector<char> has_first(graph.classes().size(), 0);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      if (graph.is_class(i)) add_class(i);
      else add_object(i, has_first);
    }
    std::vector<char> is_root(graph.size(), 0);
    for (const auto& root : graph.file().roots())
      if (const std::uint32_t object = graph.find(root.object); object != kNoObject) is_root[object] = 1;
    for (std::uint32_t i = 0; i < graph.size(); ++i)
      if (is_root[i] != 0) roots_.push_back(i);
    mark();
    // Garbage holds too, and no root holds it.
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      if (marked_[i] != 0) continue;
      for (const auto* rows : {&rows_[i].strong, &rows_[i].weak})
        for (const std::uint32_t to : *rows)
          if (marked_[to] != 0 && is_root[to] == 0) {
            is_root[to] = 1;
            roots_.push_back(to);
          }
    }
  }
  std::uint32_t size() const { return graph_.size(); }
  const std::vector<std::uint32_t>& roots() const { return roots_; }
  struct List {
    const TheirEdges& of;
    std::uint32_t object, count;
    std::uint32_t size() const { return count; }
    std::uint32_t operator[](std::uint32_t i) const { return of.edge(object, i); }
  };
  List edges_of(std::uint32_t object) const {
    const Row& row = rows_[object];
    const auto count = marked_[object] == 0 ? 0 : row.strong.size() + row.weak.size();
    return {*this, object, static_cast<std::uint32_t>(count)};
  }

  std::uint32_t edge(std::uint32_t object, std::uint32_t i) const {
    const auto& strong = rows_[object].strong;
    const std::uint32_t to = i < strong.size() ? strong[i] : rows_[object].weak[i - strong.size()];
    return marked_[to] != 0 ? to : kNoObject;
  }
  bool is_reachable(std::uint32_t object) const { return marked_[object] != 0; }

 private:
  struct Row {
    std::vector<std::uint32_t> strong, weak;
  };
  void add(std::vector<std::uint32_t>& row, std::uint64_t id) {
    if (id == 0) return;
    if (const std::uint32_t to = graph_.find(id); to != kNoObject) row.push_back(to);
  }
  void add_class(std::uint32_t object) {
    const auto* record = graph_.class_record(graph_.class_of_mirror(object));
    if (record == nullptr) return;
    add(rows_[object].strong, record->loader);
    for (const auto& each : record->statics)
      if (each.field.type == 2) add(rows_[object].strong, each.value);
  }
  void add_object(std::uint32_t object, std::vector<char>& has_first) {
    const std::uint32_t its = graph_.class_of(object);
    const auto& of = graph_.classes()[its];
    Row& row = rows_[object];
    if (has_first[its]++ == 0 && of.object != kNoObject) row.strong.push_back(of.object);
    has_first[its] = 1;
    const auto record = graph_.record(object);
    const std::uint32_t width = graph_.file().id_size();
    if (record.kind == coreinspect::HprofSub::kObjectArrayDump)
      for (std::uint64_t i = 0; i < record.count; ++i) add(row.strong, graph_.file().id(record.body + i * width));
    if (record.kind != coreinspect::HprofSub::kInstanceDump) return;
    for (const auto& each : of.references)
      if (each.offset + width <= record.count)
        add(each.referent ? row.weak : row.strong, graph_.file().id(record.body + each.offset));
  }
  void mark() {
    marked_.assign(graph_.size(), 0);
    std::vector<std::uint32_t> open;
    const auto meet = [&](std::uint32_t object) {
      if (marked_[object]++ == 0) open.push_back(object);
      else marked_[object] = 1;
    };
    for (const std::uint32_t root : roots_) meet(root);
    while (!open.empty()) {
      const std::uint32_t from = open.back();
      open.pop_back();
      for (const std::uint32_t to : rows_[from].strong) meet(to);
    }
  }

  const ObjectGraph& graph_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> roots_;
  std::vector<char> marked_;
};

struct Told {
  std::uint64_t size = 0, retained = 0;
};
std::unordered_map<std::uint64_t, Told> told_sizes(const std::string& path) {
  std::unordered_map<std::uint64_t, Told> all;
  std::ifstream lines(path);
  std::uint64_t id = 0;
  for (Told each; lines >> id >> each.size >> each.retained;) all[id] = each;
  return all;
}

TEST(RetainedSizes, AreThoseOfVisualvmByItsRules) {
  const std::string jars = visualvm_heap_jars();
  if (jars.empty()) GTEST_SKIP() << "no VisualVM (package visualvm; scripts/setup unpacks it)";
  JTRACE_NEED_JDK(jdk);
  const ScratchDir folder;
  JvmOptions options = attachable(*jdk, {"-Xmx256m", "-XX:+UseSerialGC"});
  options.arguments = {"3000"};
  const auto jvm = must(JvmProcess::start(*jdk, "Flat", options));
  const std::string dump = folder.file("theirs.hprof"), sizes = folder.file("sizes");
  take_own_dump(*jvm, dump);
  ASSERT_TRUE(compile_with_visualvm(*jdk, jars, "RetainedOracle", folder.path()));
  const auto done =
      must(run_command({jdk->host_path("bin/java"), "-cp", folder.path() + ":" + jars, "RetainedOracle", dump, sizes},
                       {.timeout = std::chrono::minutes(5)}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto theirs = told_sizes(sizes);
  ASSERT_GT(theirs.size(), 60'000u);

  const auto graph =
      must(ObjectGraph::build(must(HprofFile::open(must(open_file(dump, O_RDONLY)), dump)), std::nullopt));
  const TheirEdges edges(*graph);
  const auto tree = coreinspect::find_dominators(edges);
  std::vector<std::uint64_t> retained(tree.object.size(), 0);
  for (std::size_t i = 1; i < retained.size(); ++i) {
    const auto told = theirs.find(graph->address(tree.object[i]));
    retained[i] = told == theirs.end() ? 0 : told->second.size;
  }
  for (std::size_t i = retained.size() - 1; i > 0; --i) retained[tree.dominator[i]] += retained[i];
  std::map<std::string, int> differ;
  std::size_t compared = 0, different = 0;
  for (std::size_t i = 1; i < retained.size(); ++i) {
    const auto told = theirs.find(graph->address(tree.object[i]));
    if (told == theirs.end()) continue;
    ++compared;
    if (told->second.retained == retained[i]) continue;
    ++different;
    ++differ[graph->name(tree.object[i])];
  }
  std::string text;
  for (const auto& [name, count] : differ) text += "\n" + std::to_string(count) + " " + name;
  std::printf("%zu of %zu objects differ%s\n", different, compared, text.c_str());
  EXPECT_GT(compared, 60'000u);
  EXPECT_LE(different, compared / 1000) << text;
}

}  // namespace
}  // namespace jtrace::test
