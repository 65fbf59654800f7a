// Framed compression into a destination that gets full: every record that was accepted can be read afterwards.
#include "trace/io/compress_sink.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/file.h"
#include "base/strings.h"
#include "tests/testlib/scratch_dir.h"
#include "trace/file_sink.h"
#include "trace/io/byte_source.h"

namespace jtrace::trace::io {
namespace {

using jtrace::test::ScratchDir;

constexpr std::uint64_t kFileLimit = 300'000;

std::string unpacked(const std::string& path) {
  auto source = open_byte_source(path);
  if (!source) return source.error().message();
  std::string text(64u << 20, '\0');
  auto size = read_fully(**source, text.data(), text.size());
  EXPECT_FALSE((*source)->truncated());
  text.resize(size.value_or(0));
  return text;
}

std::unique_ptr<ByteSink> packing_into(const std::string& path, Compression compression) {
  auto file = FileSink::create(path, {.max_size = kFileLimit});
  EXPECT_TRUE(file);
  auto sink = compressing(std::move(*file), compression, Framing::kEachFlush);
  EXPECT_TRUE(sink);
  return std::move(*sink);
}

std::string noise_line(std::mt19937_64& random, std::size_t size) {
  std::string line;
  for (; line.size() < size; line += static_cast<char>('!' + random() % 90)) {
  }
  return line + "\n";
}

std::string short_line(std::size_t number) {
  std::string line = "line ";
  append_decimal(line, number);
  return line += '\n';
}

// Writes lines, with a flush after every `each`, until the sink refuses one, then the end; returns what it accepted.
template <class Line>
std::string fill(ByteSink& sink, std::size_t each, Line next_line) {
  std::string accepted;
  for (std::size_t number = 1;; ++number) {
    const std::string line = next_line(number);
    if (!sink.write(line)) break;
    accepted += line;
    if (number % each != 0) continue;
    EXPECT_TRUE(sink.flush());
  }
  EXPECT_EQ(sink.status()->category, ErrorCategory::kPartial);
  sink.begin_closing();
  EXPECT_TRUE(sink.write("</TRACE>\n"));
  EXPECT_TRUE(sink.finish());
  EXPECT_EQ(sink.lost_bytes(), 0u);
  accepted += "</TRACE>\n";
  return accepted;
}

class FullDestination : public testing::TestWithParam<Compression> {};

TEST_P(FullDestination, KeepsWhatDoesNotGetSmaller) {
  const ScratchDir scratch;
  for (const std::size_t each : {1u, 7u, 1'000'000u}) {
    std::mt19937_64 random(each);
    auto sink = packing_into(scratch.file("out"), GetParam());
    const std::string accepted =
        fill(*sink, each, [&](std::size_t number) { return noise_line(random, number % 400); });
    EXPECT_EQ(unpacked(scratch.file("out")), accepted) << each;
    EXPECT_LE(read_file(scratch.file("out"))->size(), kFileLimit);
  }
}

TEST_P(FullDestination, UsesTheRoomThatCompressionMakes) {
  const ScratchDir scratch;
  auto sink = packing_into(scratch.file("out"), GetParam());
  const std::string accepted = fill(*sink, 1'000'000, short_line);
  EXPECT_EQ(unpacked(scratch.file("out")), accepted);
  const std::size_t size = read_file(scratch.file("out"))->size();
  EXPECT_GT(size, kFileLimit - kClosingReserve - 2'000);
  EXPECT_GT(accepted.size(), 4 * size);
}

INSTANTIATE_TEST_SUITE_P(Each, FullDestination, testing::Values(Compression::kZstd, Compression::kGzip));

}  // namespace
}  // namespace jtrace::trace::io
