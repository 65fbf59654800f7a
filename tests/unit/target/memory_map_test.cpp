#include "target/memory_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/sysmacros.h>

namespace jtrace::target {
namespace {

TEST(MemoryMap, TakesAFileMappingApart) {
  const auto maps = parse_memory_map(
      "7f1000000000-7f1000100000 r-xp 00002000 fd:01 4242                       /opt/my jdk/lib/server/libjvm.so\n");
  ASSERT_EQ(maps.size(), 1u);
  EXPECT_EQ(maps[0].start, 0x7f1000000000u);
  EXPECT_EQ(maps[0].size(), 0x100000u);
  EXPECT_TRUE(maps[0].readable && maps[0].executable && !maps[0].writable && !maps[0].shared);
  EXPECT_EQ(maps[0].offset, 0x2000u);
  EXPECT_EQ(maps[0].device, makedev(0xfd, 1));
  EXPECT_EQ(maps[0].inode, 4242u);
  EXPECT_EQ(maps[0].path, "/opt/my jdk/lib/server/libjvm.so");
  EXPECT_EQ(maps[0].file_name(), "libjvm.so");
}

TEST(MemoryMap, KnowsADeletedFile) {
  const auto maps = parse_memory_map("1000-2000 r--s 00000000 00:2d 7 /a/libjvm.so (deleted)\n");
  ASSERT_EQ(maps.size(), 1u);
  EXPECT_TRUE(maps[0].deleted);
  EXPECT_TRUE(maps[0].shared);
  EXPECT_EQ(maps[0].path, "/a/libjvm.so");
}

TEST(MemoryMap, AnonymousMemoryHasNoPath) {
  const auto maps = parse_memory_map(
      "1000-2000 rw-p 00000000 00:00 0 \n3000-4000 rw-p 00000000 00:00 0\n5000-6000 rw-p 0 00:00 0 [heap]\n");
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_EQ(maps[0].path, "");
  EXPECT_EQ(maps[1].path, "");
  EXPECT_EQ(maps[2].path, "[heap]");
  EXPECT_EQ(maps[2].file_name(), "");
}

TEST(MemoryMap, SkipsWhatIsNoMapping) {
  EXPECT_TRUE(parse_memory_map("").empty());
  EXPECT_TRUE(parse_memory_map("nonsense\n2000-1000 rw-p 0 0:0 0\n1000 rw-p\n1000-2000\n1000-2000 rw\n").empty());
}

TEST(MemoryMap, FindsByAddress) {
  const auto maps = parse_memory_map("1000-2000 r--p 0 0:0 0\n2000-3000 rw-p 0 0:0 0\n5000-6000 rw-p 0 0:0 0\n");
  EXPECT_EQ(find_mapping(maps, 0xfff), nullptr);
  EXPECT_EQ(find_mapping(maps, 0x1fff), &maps[0]);
  EXPECT_EQ(find_mapping(maps, 0x2000), &maps[1]);
  EXPECT_EQ(find_mapping(maps, 0x3000), nullptr);
  EXPECT_EQ(find_mapping(maps, 0x5800), &maps[2]);
  EXPECT_EQ(find_mapping(maps, 0x6000), nullptr);
}

}  // namespace
}  // namespace jtrace::target
