#include "target/root_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "tests/testlib/must.h"

namespace jtrace::target {
namespace {

namespace fs = std::filesystem;

// Both ways must agree: the kernel's, and jtrace's for kernels without openat2.
using Opener = Result<UniqueFd> (*)(int, std::string_view, int, unsigned);

class RootDirectory : public testing::TestWithParam<Opener> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "jtrace-root-XXXXXX").string();
    base_ = ::mkdtemp(name.data());
    fs::create_directories(base_ / "root/dir/sub");
    write(base_ / "secret", "outside");
    write(base_ / "root/secret", "inside");
    write(base_ / "root/dir/file", "file");
    root_ = UniqueFd(::open((base_ / "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override { fs::remove_all(base_); }

  static void write(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }
  void link(const std::string& to, const std::string& name) { fs::create_symlink(to, base_ / "root" / name); }
  std::string content(std::string_view path, int flags = O_RDONLY) const {
    const auto fd = GetParam()(root_.get(), path, flags, 0);
    if (!fd) return "errno " + std::to_string(fd.error().errnum);
    return read_whole(fd->get(), path).value_or("unreadable");
  }

  fs::path base_;
  UniqueFd root_;
};

TEST_P(RootDirectory, OpensPlainPaths) {
  EXPECT_EQ(content("/dir/file"), "file");
  EXPECT_EQ(content("dir//./file"), "file");
  EXPECT_EQ(content("dir/sub/../file"), "file");
}

TEST_P(RootDirectory, DotsDoNotLeadOutside) {
  EXPECT_EQ(content("../secret"), "inside");
  EXPECT_EQ(content("/../../../secret"), "inside");
  EXPECT_EQ(content("dir/../../secret"), "inside");
}

TEST_P(RootDirectory, LinksDoNotLeadOutside) {
  link("../secret", "relative");
  link("/secret", "absolute");
  link((base_ / "secret").string(), "host");
  link("/", "top");
  EXPECT_EQ(content("relative"), "inside");
  EXPECT_EQ(content("absolute"), "inside");
  EXPECT_EQ(content("host"), "errno " + std::to_string(ENOENT));
  EXPECT_EQ(content("top/top/secret"), "inside");
  EXPECT_EQ(content("top/../secret"), "inside");
}

TEST_P(RootDirectory, LinksToDirectoriesAreFollowedInside) {
  link("dir/sub", "sub");
  EXPECT_EQ(content("sub/../file"), "file");  // ".." of the link's target, as in the kernel
}

TEST_P(RootDirectory, ALinkCircleEnds) {
  link("b", "a");
  link("a", "b");
  EXPECT_EQ(content("a"), "errno " + std::to_string(ELOOP));
}

TEST_P(RootDirectory, TheLastLinkIsNotFollowedOnRequest) {
  link("/secret", "link");
  EXPECT_EQ(content("link", O_RDONLY | O_NOFOLLOW), "errno " + std::to_string(ELOOP));
}

TEST_P(RootDirectory, TheProcessOwnMagicLinksDoNotLeadOutside) {
  const UniqueFd proc(::open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto escaped = GetParam()(proc.get(), "root/etc/passwd", O_RDONLY, 0);
  EXPECT_FALSE(escaped);
}

TEST_P(RootDirectory, MakesFilesInsideOnly) {
  link("/dir", "to_dir");
  const auto made = test::must(GetParam()(root_.get(), "/to_dir/../../new", O_CREAT | O_EXCL | O_WRONLY, 0600));
  EXPECT_TRUE(fs::exists(base_ / "root/new"));
  EXPECT_FALSE(fs::exists(base_ / "new"));
  const auto again = GetParam()(root_.get(), "new", O_CREAT | O_EXCL | O_WRONLY, 0600);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().errnum, EEXIST);
}

TEST_P(RootDirectory, ErrorsNameThePath) {
  const auto missing = GetParam()(root_.get(), "/dir/none/file", O_RDONLY, 0);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().path, "/dir/none/file");
  EXPECT_EQ(missing.error().errnum, ENOENT);
  EXPECT_EQ(content("dir/file/deeper"), "errno " + std::to_string(ENOTDIR));
}

TEST_P(RootDirectory, TheRootItself) {
  const auto root = GetParam()(root_.get(), "/", O_PATH | O_DIRECTORY, 0);
  ASSERT_TRUE(root);
  struct stat ours {};
  struct stat theirs {};
  ASSERT_EQ(::fstat(root->get(), &ours), 0);
  ASSERT_EQ(::fstat(root_.get(), &theirs), 0);
  EXPECT_EQ(ours.st_ino, theirs.st_ino);
}

INSTANTIATE_TEST_SUITE_P(BothWays, RootDirectory, testing::Values(&open_in_root, &open_in_root_by_components),
                         [](const auto& way) { return way.index == 0 ? "kernel" : "by_components"; });

}  // namespace
}  // namespace jtrace::target
