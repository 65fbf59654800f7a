// Threads that others hold, and memory under the overlay of a snapshot.
#include "coreinspect/tools/profile.h"

#include <gtest/gtest.h>

#include "coreinspect/types/cached_memory.h"
#include "target/buffer_memory.h"

namespace jtrace::coreinspect {
namespace {

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
