#include "coreinspect/tools/graph_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testlib/must.h"
#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::EndsWith;

// What the answers say of the sizes in a heap dump that has 20 objects of each class, with 240 bytes after the fields.
std::string note_for(const std::vector<std::string>& classes) {
  constexpr std::uint64_t kObject = 0x1000, kFirst = 0x10000, kDistance = 0x100;
  HprofBuilder builder;
  builder.add_class(kObject, "java/lang/Object", 0, {});
  std::uint64_t at = kFirst, klass = kObject;
  for (const std::string& each : classes) {
    builder.add_class(klass += 0x100, each, kObject, {"of"});
    for (int i = 0; i < 20; ++i, at += kDistance) {
      builder.add_instance(at, klass, {0});
      builder.add_root(at);
    }
  }
  builder.add_bytes(at, 1);
  const std::string dump = builder.dump();
  const auto graph =
      test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), std::nullopt));
  const auto notes = size_notes(HeapTree(*graph));
  return notes.empty() ? "" : notes.back();
}

TEST(SizeNotes, SayWhyObjectsAreLarger) {
  const std::string chunk = "jdk/internal/vm/StackChunk";
  EXPECT_THAT(note_for({"Cell"}), EndsWith("larger than their fields need (@Contended)"));
  EXPECT_THAT(note_for({chunk}), EndsWith("larger than their fields need (stacks of virtual threads)"));
  EXPECT_THAT(note_for({"Cell", chunk}), EndsWith("(stacks of virtual threads, @Contended)"));
}

}  // namespace
}  // namespace jtrace::coreinspect
