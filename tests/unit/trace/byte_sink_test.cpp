#include "trace/byte_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "base/file.h"

namespace jtrace::trace {
namespace {

// Has room for `capacity` bytes, which it reports, and reserves ten of them for the end.
class SmallSink final : public ByteSink {
 public:
  explicit SmallSink(std::uint64_t capacity, std::size_t buffer = 16) : ByteSink(buffer), capacity_(capacity) {}
  std::string text;

 private:
  Result<std::uint64_t> promise(std::uint64_t least, std::uint64_t wished, bool closing) override {
    const std::uint64_t end = closing ? capacity_ : capacity_ - 10;
    if (least > end) return fail(system_error(ENOSPC, "no room", "small"));
    return std::min(wished, end);
  }
  Result<> drain(std::string_view records) override {
    text += records;
    return {};
  }
  std::uint64_t held() const override { return text.size(); }
  std::uint64_t capacity_;
};

TEST(ByteSink, KeepsOrderOverFullBuffersAndLongRecords) {
  MemorySink sink(16);
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    const std::string record(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(sink.write(record));
    expected += record;
    EXPECT_EQ(sink.bytes_written(), expected.size());
  }
  ASSERT_TRUE(sink.finish());
  EXPECT_EQ(sink.text(), expected);
  EXPECT_EQ(sink.lost_bytes(), 0u);
}

TEST(ByteSink, ReservedButNotCommittedDoesNotCount) {
  MemorySink sink(64);
  char* room = sink.reserve(32);
  ASSERT_NE(room, nullptr);
  std::memcpy(room, "abcdef", 6);
  sink.commit(3);
  ASSERT_TRUE(sink.write("X"));
  ASSERT_TRUE(sink.flush());
  EXPECT_EQ(sink.text(), "abcX");
}

TEST(ByteSink, AFullDestinationReportsItBeforeItTakesARecord) {
  SmallSink sink(50);
  int taken = 0;
  while (sink.write("12345678")) ++taken;
  EXPECT_EQ(taken, 5);  // 40 bytes and ten for the end
  ASSERT_NE(sink.status(), nullptr);
  EXPECT_EQ(sink.status()->errnum, ENOSPC);
  EXPECT_FALSE(sink.write("1"));  // the failure is permanent
  sink.begin_closing();
  EXPECT_EQ(sink.status(), nullptr);
  EXPECT_TRUE(sink.write("the end.."));
  EXPECT_FALSE(sink.write("too much"));
  EXPECT_FALSE(sink.finish());
  EXPECT_EQ(sink.text, "1234567812345678123456781234567812345678the end..");
  EXPECT_EQ(sink.lost_bytes(), 0u);
}

TEST(ByteSink, ARecordThatFitsStillGoesWhereAWholeBufferDoesNot) {
  SmallSink sink(30, 1024);
  EXPECT_TRUE(sink.write("0123456789"));
  EXPECT_TRUE(sink.write("0123456789"));
  EXPECT_FALSE(sink.write("0"));
}

TEST(ByteSink, FinishAfterFullWritesWhatWasTaken) {
  SmallSink sink(20, 1024);
  ASSERT_TRUE(sink.write("0123456789"));
  ASSERT_FALSE(sink.write("x"));
  Result<> finished = sink.finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().errnum, ENOSPC);
  EXPECT_EQ(sink.text, "0123456789");
}

TEST(FdSink, AFullDeviceStopsIt) {
  Result<UniqueFd> full = open_file("/dev/full", O_WRONLY);
  ASSERT_TRUE(full) << full.error().message();
  FdSink sink(std::move(*full), "/dev/full");
  ASSERT_TRUE(sink.write("abc"));
  Result<> flushed = sink.flush();
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().errnum, ENOSPC);
  EXPECT_EQ(flushed.error().path, "/dev/full");
  EXPECT_EQ(sink.lost_bytes(), 3u);
  EXPECT_EQ(sink.bytes_written(), 0u);
  EXPECT_EQ(sink.reserve(1), nullptr);
}

TEST(FdSink, AReaderThatLeftIsAnErrorThatStays) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  FdSink sink(UniqueFd(ends[1]), "pipe");
  ASSERT_TRUE(sink.write("abc"));
  ASSERT_TRUE(sink.flush());
  ::close(ends[0]);
  ASSERT_TRUE(sink.write("def"));
  EXPECT_FALSE(sink.flush());
  sink.begin_closing();
  ASSERT_NE(sink.status(), nullptr);
  EXPECT_EQ(sink.status()->errnum, EPIPE);
  EXPECT_EQ(sink.bytes_written(), 3u);
}

}  // namespace
}  // namespace jtrace::trace
