#include "perfdata/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "perfdata/region_writer.h"
#include "perfdata/snapshot.h"
#include "tests/testlib/must.h"

namespace jtrace::perfdata {
namespace {

using ::testing::HasSubstr;

class MappedRegionFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto bytes = RegionWriter().add_long("a", 42).bytes();
    fd_.reset(::mkstemp(path_));
    ASSERT_TRUE(fd_);
    ASSERT_EQ(::write(fd_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void TearDown() override { ::unlink(path_); }

  char path_[40] = "/tmp/jtrace-mapped-XXXXXX";
  UniqueFd fd_;
};

TEST_F(MappedRegionFile, ReadsWhatTheFileHolds) {
  const auto file = open_region_file(path_, false);
  ASSERT_TRUE(file);
  const auto mapped = test::must(MappedFile::map(*file));
  const auto snapshot = test::must(read_snapshot(mapped, 0));
  EXPECT_EQ(snapshot.long_value("a"), 42);
  std::byte byte{};
  EXPECT_EQ(mapped.read_some(32768, std::span(&byte, 1)).error().category, ErrorCategory::kMalformed);
}

TEST_F(MappedRegionFile, AFileThatIsCutIsAnErrorAndNoSignal) {
  const auto file = open_region_file(path_, false);
  ASSERT_TRUE(file);
  const auto mapped = test::must(MappedFile::map(*file));
  ASSERT_EQ(::ftruncate(fd_.get(), 0), 0);
  const auto cut = read_snapshot(mapped, 0);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().category, ErrorCategory::kNotFound);
  EXPECT_THAT(cut.error().message(), HasSubstr("truncated while it was mapped"));
  EXPECT_FALSE(read_snapshot(mapped, 0));  // and permanently
}

TEST_F(MappedRegionFile, OtherBusErrorsStayDeadly) {
  const auto file = open_region_file(path_, false);
  ASSERT_TRUE(file);
  ASSERT_TRUE(MappedFile::map(*file));
  EXPECT_DEATH(::raise(SIGBUS), "");  // by the signal, or by the sanitizer's handler
}

}  // namespace
}  // namespace jtrace::perfdata
