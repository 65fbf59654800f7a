// A recording of JFR, read as its header says.
#include "sampling/jfr_writer.h"

#include <gtest/gtest.h>

#include <map>
#include <span>

#include "base/bytes.h"
#include "sampling/jfr_bytes.h"
#include "sampling/jfr_metadata.h"

namespace jtrace::sampling {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(JfrBytes, PutSevenBitsIntoAByte) {
  EXPECT_EQ(JfrBytes().number(0).text(), std::string(1, '\0'));
  EXPECT_EQ(JfrBytes().number(300).text(), "\xac\x02");
  EXPECT_EQ(JfrBytes().number(~0ull).text(), std::string(9, '\xff'));
  EXPECT_EQ(JfrBytes().string("ab").text(), "\3\2ab");
  EXPECT_EQ(JfrBytes().big_endian(std::uint16_t{0x102}).text(), "\1\2");
}

TEST(JfrBytes, CountTheirSizeAsPartOfAnEvent) {
  EXPECT_EQ(JfrBytes().raw("abc").as_event(), "\4abc");
  for (const std::size_t size : {126u, 127u, 16381u, 16382u}) {
    const std::string event = JfrBytes().raw(std::string(size, 'x')).as_event();
    ByteReader reader(bytes_of(event));
    EXPECT_EQ(reader.read_uleb128(), event.size());
    EXPECT_EQ(reader.remaining(), size);
  }
}

TEST(JfrWriter, HasAnEventForEachSampleAndWait) {
  coreinspect::JavaMethod method;
  method.class_name = "app.Cart";
  method.name = "add";
  method.signature = "(I)V";
  coreinspect::ThreadReport thread;
  thread.name = "main";
  thread.walk.frames.push_back({.kind = coreinspect::FrameKind::kCompiled, .method = &method});
  JfrWriter writer;
  writer.add(thread, 1000, 10, WaitKind::kNone, "");
  writer.add(thread, 1100, 10, WaitKind::kNone, "");
  writer.add(thread, 1200, 20, WaitKind::kPark, "");
  writer.add(thread, 1300, 30, WaitKind::kFile, "");
  const std::string file = writer.bytes({.start = 1000, .elapsed = 400});

  ByteReader header(bytes_of(file), std::endian::big);
  EXPECT_EQ(header.read_text(4), std::string_view("FLR\0", 4));
  EXPECT_EQ(header.read<std::uint32_t>(), 0x20000u);
  EXPECT_EQ(header.read<std::uint64_t>(), file.size());
  const auto pools_at = header.read<std::uint64_t>(), metadata_at = header.read<std::uint64_t>();
  EXPECT_EQ(header.read<std::uint64_t>(), 1000u);
  EXPECT_EQ(header.read<std::uint64_t>(), 400u);
  // Events one after the other, then the pools, then the metadata, up to the end.
  std::map<std::uint64_t, int> types;
  std::size_t at = 68;
  while (at < file.size()) {
    ByteReader event(bytes_of(file).subspan(at));
    const std::uint64_t size = event.read_uleb128(), type = event.read_uleb128();
    ASSERT_GT(size, 0u);
    ASSERT_LE(size, file.size() - at);
    EXPECT_EQ(at == pools_at, type == jfr::kCheckpoint);
    EXPECT_EQ(at == metadata_at, type == jfr::kMetadata);
    ++types[type];
    at += size;
  }
  EXPECT_EQ(types, (std::map<std::uint64_t, int>{{jfr::kMetadata, 1},
                                                 {jfr::kCheckpoint, 1},
                                                 {jfr::kExecutionSample, 2},
                                                 {jfr::kThreadPark, 1},
                                                 {jfr::kOffCpu, 1}}));
  EXPECT_NE(file.find("app.Cart"), file.npos);
}

// Numbers and texts of one entry of a pool, after its own number.
void skip_entry(std::uint64_t type, ByteReader& reader) {
  const auto numbers = [&](int count) {
    for (; count > 0; --count) (void)reader.read_uleb128();
  };
  const auto text = [&] {
    EXPECT_EQ(reader.read<std::uint8_t>(), 3u);
    (void)reader.read_bytes(reader.read_uleb128());
  };
  switch (type) {
    case jfr::kFrameType:
    case jfr::kThreadState:
    case jfr::kSymbol: text(); break;
    case jfr::kClass: numbers(2); break;
    case jfr::kMethod: numbers(5); break;
    case jfr::kThread:
      text(), numbers(1);
      text(), numbers(1);
      break;
    case jfr::kStackTrace:
      numbers(1);
      numbers(4 * static_cast<int>(reader.read_uleb128()));
      break;
    default: FAIL() << "a pool of type " << type;
  }
}

// The number of entries of each pool of a recording.
std::map<std::uint64_t, std::uint64_t> pools_of(const std::string& file) {
  ByteReader header(bytes_of(file), std::endian::big);
  (void)header.read_bytes(16);
  ByteReader reader(bytes_of(file).subspan(header.read<std::uint64_t>()));
  // Size, type, time, duration, the checkpoint before, whether it was flushed early.
  for (int i = 0; i < 6; ++i) (void)reader.read_uleb128();
  std::map<std::uint64_t, std::uint64_t> pools;
  for (std::uint64_t pool = reader.read_uleb128(); pool > 0 && !reader.failed(); --pool) {
    const std::uint64_t type = reader.read_uleb128(), entries = pools[type] = reader.read_uleb128();
    for (std::uint64_t i = 0; i < entries && !reader.failed(); ++i) {
      (void)reader.read_uleb128();
      skip_entry(type, reader);
    }
  }
  EXPECT_FALSE(reader.failed());
  return pools;
}

// jfr refuses a pool without entries.
TEST(JfrWriter, HasNoEmptyPools) {
  coreinspect::ThreadReport thread;
  thread.name = "main";
  JfrWriter writer;
  EXPECT_EQ(pools_of(writer.bytes({})),
            (std::map<std::uint64_t, std::uint64_t>{{jfr::kFrameType, 7}, {jfr::kThreadState, 1}}));
  writer.add(thread, 1000, 10, WaitKind::kOther, "");
  EXPECT_EQ(pools_of(writer.bytes({})),
            (std::map<std::uint64_t, std::uint64_t>{
                {jfr::kFrameType, 7}, {jfr::kThreadState, 1}, {jfr::kThread, 1}, {jfr::kStackTrace, 1}}));
  thread.walk.frames.push_back({.kind = coreinspect::FrameKind::kNative, .name = "read"});
  writer.add(thread, 1000, 10, WaitKind::kOther, "");
  EXPECT_EQ(pools_of(writer.bytes({})), (std::map<std::uint64_t, std::uint64_t>{{jfr::kFrameType, 7},
                                                                                {jfr::kThreadState, 1},
                                                                                {jfr::kThread, 1},
                                                                                {jfr::kStackTrace, 2},
                                                                                {jfr::kMethod, 1},
                                                                                {jfr::kClass, 1},
                                                                                {jfr::kSymbol, 3}}));
}

}  // namespace
}  // namespace jtrace::sampling
