// What of each mapping is in memory: the text of /proc/PID/smaps.
#include "target/smaps.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace jtrace::target {
namespace {

constexpr std::string_view kText =
    "10000-12000 rw-p 00000000 00:00 0                                [heap]\n"
    "Size:                  8 kB\n"
    "Rss:                   4 kB\n"
    "Pss:                   2 kB\n"
    "Swap:                  4 kB\n"
    "SwapPss:               4 kB\n"
    "VmFlags: rd wr mr mw me ac sd\n"
    "abcd000-abce000 r--s 00001000 fe:00 77                     /a b.so (deleted)\n"
    "Rss:                   0 kB\n"
    "Pss:            18014398509481984 kB\n"
    "Unknown_Key:           9 kB\n";

TEST(Smaps, FiguresBelongToTheMappingAbove) {
  const auto all = parse_smaps(kText);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].mapping.path, "[heap]");
  EXPECT_EQ(all[0].rss, 4096u);
  EXPECT_EQ(all[0].pss, 2048u);
  EXPECT_EQ(all[0].swap, 4096u);
  EXPECT_EQ(all[1].mapping.start, 0xabcd000u);
  EXPECT_EQ(all[1].mapping.path, "/a b.so");
  EXPECT_TRUE(all[1].mapping.deleted);
  EXPECT_EQ(all[1].rss, 0u);
}

TEST(Smaps, AnImpossibleFigureIsNone) {
  EXPECT_EQ(parse_smaps(kText)[1].pss, 0u);
  const auto all = parse_smaps("1000-2000 rw-p 0 00:00 0\nRss: -4 kB\nPss: 4 MB\nSwap: kB\nRss\n");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].rss + all[0].pss + all[0].swap, 0u);
}

TEST(Smaps, FiguresWithoutAMappingAndOtherTextAreSkipped) {
  EXPECT_TRUE(parse_smaps("Rss: 4 kB\nnonsense\n\n").empty());
  EXPECT_TRUE(parse_smaps("").empty());
}

TEST(Smaps, ThisProcessHasLibrariesAndAStackInMemory) {
  const auto text = read_file("/proc/self/smaps");
  ASSERT_TRUE(text);
  std::uint64_t rss = 0;
  bool stack = false;
  for (const MappedPages& pages : parse_smaps(*text)) {
    EXPECT_LE(pages.pss, pages.rss);
    rss += pages.rss;
    stack = stack || (pages.mapping.path == "[stack]" && pages.rss > 0);
  }
  EXPECT_GT(rss, 1u << 20);
  EXPECT_TRUE(stack);
}

}  // namespace
}  // namespace jtrace::target
