// Counted stacks, and memory under the overlay of a snapshot.
#include "coreinspect/tools/profile.h"

#include <gtest/gtest.h>

#include "coreinspect/types/cached_memory.h"
#include "target/buffer_memory.h"

namespace jtrace::coreinspect {
namespace {

Frame native(std::string name, std::string module = "libc.so.6", std::uint64_t offset = 0x10) {
  Frame frame{.kind = FrameKind::kNative};
  frame.name = std::move(name);
  frame.module = std::move(module);
  frame.module_offset = offset;
  return frame;
}

TEST(CollapsedStacks, AreCountedFromTheOutermostFrame) {
  JavaMethod run;
  run.class_name = "a.B";
  run.name = "run;";
  ThreadReport report;
  report.name = "VM Thread";
  report.walk.frames = {native("read"), Frame{.kind = FrameKind::kInterpreted, .method = &run},
                        Frame{.kind = FrameKind::kEntry, .name = "call_stub"}, native("")};
  ThreadSnapshot snapshot;
  snapshot.threads = {report, report};
  CollapsedStacks stacks;
  stacks.add(snapshot);
  EXPECT_EQ(stacks.text(), "VM Thread;libc.so.6+0x10;a.B.run,;read 2\n");
}

TEST(CollapsedStacks, ThatWereCutHaveARootThatSaysSo) {
  ThreadReport report;
  report.name = "VM Thread";
  report.walk.frames = {native("read"), native("poll")};
  ThreadSnapshot snapshot;
  snapshot.threads.push_back(report);
  report.walk.stopped = "the caller is not known";
  snapshot.threads.push_back(report);
  CollapsedStacks stacks;
  stacks.add(snapshot);
  EXPECT_EQ(stacks.text(), "VM Thread;[cut stack];poll;read 1\nVM Thread;poll;read 1\n");
}

TEST(HeldThreads, AreNamedInOneLineForEachTracer) {
  std::vector<ThreadReport> threads(9);
  for (int i = 0; i < 9; ++i) {
    threads[static_cast<std::size_t>(i)].name = "t" + std::to_string(i);
    if (i > 0)
      threads[static_cast<std::size_t>(i)].held =
          target::HeldThread{.tid = 10 + i, .tracer = i == 1 ? 7 : 8, .tracer_name = i == 1 ? "strace" : "gdb"};
  }
  EXPECT_EQ(describe_held(threads),
            (std::vector<std::string>{
                "thread \"t1\" (11) is held by another tracer, process 7 (strace): shown as far as possible without "
                "stopping it",
                "7 threads, \"t2\" (12), \"t3\" (13), \"t4\" (14), \"t5\" (15), \"t6\" (16), ... are "
                "held by another tracer, process 8 (gdb): shown as far as possible without stopping them"}));
  EXPECT_TRUE(describe_held({}).empty());
}

TEST(CachedMemory, GivesWhatWasLaidOverIt) {
  std::vector<std::byte> bytes(8192, std::byte{1});
  const target::BufferMemory below(0x10000, bytes);
  CachedMemory memory(below);
  EXPECT_EQ(memory.read<std::uint32_t>(0x10ffe), 0x01010101u);
  memory.overlay(0x11000, {std::byte{2}, std::byte{3}});
  EXPECT_EQ(memory.read<std::uint32_t>(0x10fff), 0x01030201u) << "across both its ends";
  memory.forget();
  EXPECT_EQ(memory.read<std::uint16_t>(0x11000), 0x0302u) << "pages are forgotten, overlays are not";
  memory.reset();
  EXPECT_EQ(memory.read<std::uint16_t>(0x11000), 0x0101u);
  EXPECT_FALSE(memory.read<std::uint64_t>(0x11ffc)) << "beyond the end";
}

}  // namespace
}  // namespace jtrace::coreinspect
