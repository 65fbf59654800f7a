#include "base/leftovers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"
#include "tests/testlib/scratch_dir.h"

namespace jtrace {
namespace {

class Leftovers : public ::testing::Test {
 protected:
  std::string make(const std::string& name, bool is_old = true) {
    std::ofstream(scratch_.file(name)) << "x";
    if (is_old) age(name);
    return scratch_.file(name);
  }
  std::string make_folder(const std::string& name) {
    std::filesystem::create_directory(scratch_.file(name));
    std::ofstream(scratch_.file(name) + "/document.xml") << "x";
    age(name);
    return scratch_.file(name);
  }
  std::size_t remove(const std::string& prefix) {
    const UniqueFd folder(::open(scratch_.file(".").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return remove_leftovers(folder.get(), prefix);
  }
  std::string path_of(const std::string& name) const { return scratch_.file(name); }
  static bool is_there(const std::string& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path));
  }

 private:
  void age(const std::string& name) {
    const timespec past{::time(nullptr) - 3600, 0}, times[] = {past, past};
    ASSERT_EQ(::utimensat(AT_FDCWD, scratch_.file(name).c_str(), times, 0), 0);
  }
  test::ScratchDir scratch_;
};

TEST_F(Leftovers, FilesAndFoldersOfThatNameAreRemoved) {
  const std::string file = make("lib-1.so"), folder = make_folder("lib-2"), other = make("other-1.so");
  EXPECT_EQ(remove("lib-"), 2u);
  EXPECT_FALSE(is_there(file));
  EXPECT_FALSE(is_there(folder));
  EXPECT_TRUE(is_there(other));
}

TEST_F(Leftovers, WhatIsInUseStays) {
  const std::string file = make("lib-1.so"), folder = make_folder("lib-2");
  {
    const UniqueFd file_fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), folder_fd(::open(folder.c_str(), O_RDONLY));
    mark_in_use(file_fd.get());
    mark_in_use(folder_fd.get());
    EXPECT_EQ(remove("lib-"), 0u);
  }
  EXPECT_EQ(remove("lib-"), 2u) << "closed: no longer in use";
}

TEST_F(Leftovers, WhatIsYoungOrALinkStays) {
  const std::string young = make("lib-1.so", false), target = make("target");
  ASSERT_EQ(::symlink(target.c_str(), path_of("lib-2.so").c_str()), 0);
  EXPECT_EQ(remove("lib-"), 0u);
  EXPECT_TRUE(is_there(young));
  EXPECT_TRUE(is_there(target));
}

TEST_F(Leftovers, AFolderWithAFolderInItStays) {
  const std::string folder = make_folder("lib-1");
  std::filesystem::create_directory(folder + "/inner");
  const timespec past{::time(nullptr) - 3600, 0}, times[] = {past, past};
  ASSERT_EQ(::utimensat(AT_FDCWD, folder.c_str(), times, 0), 0);
  EXPECT_EQ(remove("lib-"), 0u);
  EXPECT_TRUE(is_there(folder + "/inner"));
}

}  // namespace
}  // namespace jtrace
