#include "perfdata/discovery.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "perfdata/counter_source.h"
#include "perfdata/jvm_listing.h"
#include "perfdata/region_writer.h"
#include "tests/testlib/must.h"

namespace jtrace::perfdata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A folder hsperfdata_test with one complete file, 123, in a folder of the test's own.
class RegionFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jtrace-perfdata-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    tmp_ = name;
    folder_ = tmp_ + "/hsperfdata_test";
    file_ = folder_ + "/123";
    ASSERT_EQ(::mkdir(folder_.c_str(), 0755), 0);
    write(file_, RegionWriter().add_long("a", 1).bytes());
  }
  void TearDown() override { std::filesystem::remove_all(tmp_); }

  static void write(const std::string& path, const std::vector<std::byte>& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    ::chmod(path.c_str(), 0600);
  }
  // The message of of_file, after a check of its exit status.
  std::string complaint(const std::string& path, ExitStatus status, SourceOptions options = {}) {
    auto source = CounterSource::of_file(path, options);
    if (source) return "";
    EXPECT_EQ(exit_status(source.error()), status) << source.error().message();
    return source.error().message();
  }

  std::string tmp_, folder_, file_;
};

TEST_F(RegionFolder, AStaleFileIsNamedAsSuchAndReadOnRequest) {
  EXPECT_THAT(complaint(file_, ExitStatus::kNotFound), HasSubstr("stale file of a JVM that has ended, last changed 2"));
  auto source = test::must(CounterSource::of_file(file_, {.stale = true}));
  EXPECT_EQ(source.first().long_value("a"), 1);
}

TEST_F(RegionFolder, AFileThatIsLockedIsNotStale) {
  const UniqueFd fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(fd.get(), LOCK_EX | LOCK_NB), 0);
  auto source = CounterSource::of_file(file_);
  EXPECT_TRUE(source) << source.error().message();
}

TEST_F(RegionFolder, WhatOthersCouldHavePutInPlaceIsRefused) {
  const SourceOptions stale{.stale = true};
  ::chmod(file_.c_str(), 0620);
  EXPECT_THAT(complaint(file_, ExitStatus::kPermission, stale), HasSubstr("the file is writable by others"));
  ::chmod(file_.c_str(), 0600);
  ::chmod(folder_.c_str(), 0777);
  EXPECT_THAT(complaint(file_, ExitStatus::kPermission, stale), HasSubstr("the directory is writable by others"));
  EXPECT_EQ(complaint(file_, ExitStatus::kOk, {.trust = true, .stale = true}), "");
  ::chmod(folder_.c_str(), 0755);
  std::filesystem::create_hard_link(file_, tmp_ + "/other");
  EXPECT_THAT(complaint(file_, ExitStatus::kPermission, stale), HasSubstr("the file has 2 names"));
}

TEST_F(RegionFolder, LinksAreRefused) {
  const SourceOptions stale{.stale = true};
  std::filesystem::create_symlink(file_, folder_ + "/124");
  EXPECT_THAT(complaint(folder_ + "/124", ExitStatus::kPermission, stale), HasSubstr("the file is a symlink"));
  std::filesystem::create_directory_symlink(folder_, tmp_ + "/hsperfdata_link");
  EXPECT_THAT(complaint(tmp_ + "/hsperfdata_link/123", ExitStatus::kPermission, stale),
              HasSubstr("the directory is a symlink"));
}

TEST_F(RegionFolder, AFifoDoesNotBlock) {
  ASSERT_EQ(::mkfifo((folder_ + "/125").c_str(), 0600), 0);
  EXPECT_THAT(complaint(folder_ + "/125", ExitStatus::kPermission), HasSubstr("not a regular file"));
  ASSERT_EQ(::mkfifo((tmp_ + "/saved").c_str(), 0600), 0);
  EXPECT_THAT(complaint(tmp_ + "/saved", ExitStatus::kPermission), HasSubstr("not a regular file"));
}

TEST_F(RegionFolder, EachBadSavedFileHasItsLine) {
  const std::string saved = tmp_ + "/saved";
  write(saved, {});
  EXPECT_THAT(complaint(saved, ExitStatus::kMalformed), HasSubstr("the file is empty"));
  write(saved, std::vector<std::byte>(16));
  EXPECT_THAT(complaint(saved, ExitStatus::kMalformed), HasSubstr("truncated: 16 bytes"));
  write(saved, RegionWriter().add_long("a", 1).set_accessible(false).bytes());
  EXPECT_THAT(complaint(saved, ExitStatus::kTimeout), HasSubstr("the JVM is starting"));
  EXPECT_EQ(complaint(saved, ExitStatus::kOk, {.any_state = true}), "");
  EXPECT_THAT(complaint(tmp_ + "/none", ExitStatus::kNotFound), HasSubstr("/none"));
}

TEST_F(RegionFolder, OverflowAndDuplicatesAreWarnings) {
  const std::string saved = tmp_ + "/saved";
  write(saved, RegionWriter().add_long("a", 1).add_long("a", 2).set_overflow(4000).bytes());
  auto source = test::must(CounterSource::of_file(saved));
  EXPECT_THAT(source.warnings(),
              ElementsAre(HasSubstr("4000 bytes of counters did not fit"), HasSubstr("occurs twice")));
}

TEST_F(RegionFolder, StaleFilesAreFoundAndLeftWhereTheyAre) {
  write(folder_ + "/notes", {});
  std::filesystem::create_symlink(file_, folder_ + "/200");
  auto files = find_stale_files(*open_file(tmp_, O_RDONLY | O_DIRECTORY), "/tmp", {});
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path, "/tmp/hsperfdata_test/123");
  EXPECT_EQ(files[0].name, 123);
  EXPECT_TRUE(std::filesystem::exists(file_));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/notes"));
  EXPECT_TRUE(find_stale_files(*open_file(tmp_, O_RDONLY | O_DIRECTORY), "/tmp", {files[0].facts.inode}).empty());
}

TEST(Discovery, TheRegionIsASharedMappingOfALiveLocation) {
  const auto mappings = target::parse_memory_map(
      "7f0000000000-7f0000008000 r--p 00000000 fe:01 11 /tmp/hsperfdata_root/77\n"
      "7f0000010000-7f0000018000 rw-s 00000000 fe:01 12 /tmp/hsperfdata_root/notes\n"
      "7f0000020000-7f0000028000 rw-s 00000000 fe:01 13 /srv/jail/tmp/hsperfdata_app/1 (deleted)\n");
  const target::Mapping* mapping = find_region_mapping(mappings);
  ASSERT_NE(mapping, nullptr);
  EXPECT_EQ(mapping->inode, 13u);
  EXPECT_TRUE(mapping->deleted);
}

TEST(Discovery, LocksAreReadAsTheKernelWritesThem) {
  const auto locks = parse_flocks(
      "1: POSIX  ADVISORY  READ  12 00:1a:5 128 128\n"
      "2: FLOCK  ADVISORY  WRITE 31821 fe:01:1234 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE -1 00:2f:99 0 EOF\n"
      "2: -> FLOCK  ADVISORY  WRITE 7 fe:01:1234 0 EOF\nrubbish\n");
  ASSERT_EQ(locks.size(), 2u);
  EXPECT_EQ(locks[0].pid, 31821);
  EXPECT_EQ(locks[0].device, makedev(0xfe, 1));
  EXPECT_EQ(locks[0].inode, 1234u);
  EXPECT_EQ(locks[1].pid, 0);
}

TEST(Discovery, LiveLocations) {
  EXPECT_TRUE(is_live_location("/tmp/hsperfdata_root/1"));
  EXPECT_FALSE(is_live_location("/tmp/hsperfdata_root/"));
  EXPECT_FALSE(is_live_location("/tmp/hsperfdata_root/1x"));
  EXPECT_FALSE(is_live_location("/tmp/hsperfdata_1"));
  EXPECT_FALSE(is_live_location("1"));
}

TEST(JvmListing, NamesAreThoseOfJps) {
  EXPECT_EQ(main_class_of("org.acme.Main -x a/b", false), "Main");
  EXPECT_EQ(main_class_of("org.acme.Main -x", true), "org.acme.Main");
  EXPECT_EQ(main_class_of("/opt/app/server-1.2.jar run", false), "server-1.2.jar");
  EXPECT_EQ(main_class_of("mod/org.acme.Main", false), "Main");
  EXPECT_EQ(main_class_of("", false), "");
  EXPECT_EQ(main_arguments_of("Main a b"), "a b");
  EXPECT_EQ(main_arguments_of("Main"), "");
  EXPECT_EQ(main_arguments_of("Unknown"), "Unknown");
}

}  // namespace
}  // namespace jtrace::perfdata
