// Which bytes of a heap dump are kept while it is unpacked, in pieces of any size.
#include "coreinspect/graph/hprof_stream.h"

#include <gtest/gtest.h>

#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

std::string small_dump() {
  HprofBuilder builder;
  builder.add_class(0x1000, "java/lang/Object", 0, {});
  builder.add_instance(0x2000, 0x1000, {});
  builder.add_root(0x2000);
  return builder.dump();
}

struct Kept {
  std::string bytes;  // those that are not kept are '?'
  bool is_over = false;
};
Kept kept_of(const std::string& dump, std::size_t piece) {
  HprofStream stream;
  Kept kept{.bytes = std::string(dump.size(), '?')};
  for (std::size_t at = 0; at < dump.size(); at += piece)
    stream.feed(std::string_view(dump).substr(at, piece),
                [&](std::uint64_t place, std::string_view part) { kept.bytes.replace(place, part.size(), part); });
  kept.is_over = stream.is_over();
  EXPECT_EQ(stream.size(), dump.size());
  return kept;
}

TEST(HprofStream, KeepsAllRecordsOfADump) {
  const std::string dump = small_dump();
  for (const std::size_t piece : {1u, 2u, 7u, 9u, 100u, 100'000u}) {
    EXPECT_EQ(kept_of(dump, piece).bytes, dump) << piece;
    EXPECT_FALSE(kept_of(dump, piece).is_over);
  }
}

TEST(HprofStream, KeepsOnlyTheBeginningOfWhatFollows) {
  const std::string dump = small_dump();
  for (const std::string& more : {std::string(300'000, '\0'), small_dump() + std::string(300'000, 'x')})
    for (const std::size_t piece : {1u, 65'536u, 1'000'000u}) {
      const Kept kept = kept_of(dump + more, piece);
      const std::string expected = dump + more.substr(0, HprofStream::kTail);
      EXPECT_TRUE(kept.is_over);
      EXPECT_EQ(kept.bytes, expected + std::string(dump.size() + more.size() - expected.size(), '?')) << piece;
    }
}

TEST(HprofStream, LeavesOutTheContentsOfUnknownRecords) {
  std::string dump = small_dump();
  const std::size_t end = dump.size() - 9;
  dump.insert(end, std::string("\x77\0\0\0\0\0\0\0\5", 9) + "bytes");
  std::string expected = dump;
  expected.replace(end + 9, 5, "?????");
  for (const std::size_t piece : {1u, 3u, 1000u}) EXPECT_EQ(kept_of(dump, piece).bytes, expected) << piece;
}

TEST(HprofStream, KeepsAHeapWithoutALengthToTheEnd) {
  std::string dump = small_dump();
  const std::size_t segment = dump.find('\x1c');
  dump[segment] = '\x0c';
  for (std::size_t i = segment + 5; i < segment + 9; ++i) dump[i] = '\0';
  dump += std::string(200'000, '\0');
  EXPECT_EQ(kept_of(dump, 1000).bytes, dump);
}

TEST(HprofStream, TakesAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 3000; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  for (std::size_t size = 0; size < bytes.size(); size += 13) (void)kept_of(bytes.substr(0, size), 5);
}

}  // namespace
}  // namespace jtrace::coreinspect
