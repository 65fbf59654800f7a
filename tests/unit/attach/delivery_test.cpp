#include "attach/delivery.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/file.h"
#include "tests/testlib/must.h"

namespace jtrace::attach {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

UniqueFd connect_to_path(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

class Delivery : public testing::Test {
 protected:
  target::Process self_ = target::Process::open(::getpid()).value();
};

TEST_F(Delivery, AFileForAsLongAsItIsNeeded) {
  std::string path;
  {
    const auto file = test::must(deliver(self_, bytes_of("library"), "libx.so"));
    path = file.path();
    EXPECT_EQ(read_file(path).value_or(""), "library");
    struct stat facts {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0700u);
    EXPECT_EQ(facts.st_uid, self_.uid());
    EXPECT_EQ(facts.st_ino, file.inode());
    const std::string name = std::filesystem::path(path).filename();
    EXPECT_TRUE(name.starts_with("libx-") && name.ends_with(".so")) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Delivery, TwoOfOneNameDoNotMeet) {
  const auto one = deliver(self_, bytes_of("1"), "lib.so");
  const auto two = deliver(self_, bytes_of("2"), "lib.so");
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->path(), two->path());
}

TEST_F(Delivery, WhatAKilledJtraceLeftIsRemovedByTheNext) {
  const std::string folder = test::must(choose_directory(self_, 1, true)).path;
  const std::string left = folder + "/libjtrace_agent-test-left.so", others = folder + "/libother-test-left.so";
  const timespec past{::time(nullptr) - 3600, 0}, times[] = {past, past};
  for (const std::string& path : {left, others}) {
    const auto fd = test::must(open_file(path, O_CREAT | O_WRONLY | O_TRUNC, 0700));
    test::must(write_whole(fd.get(), "x", path));
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  const auto first = test::must(deliver(self_, bytes_of("1"), "libother.so"));
  EXPECT_TRUE(std::filesystem::exists(left)) << "a library of the user's: nothing is removed";
  const auto second = test::must(deliver(self_, bytes_of("2"), "libjtrace_agent-test.so"));
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(others));
  ASSERT_EQ(::utimensat(AT_FDCWD, second.path().c_str(), times, 0), 0);
  const auto third = test::must(deliver(self_, bytes_of("3"), "libjtrace_agent-test.so"));
  EXPECT_TRUE(std::filesystem::exists(second.path())) << "in use";
  std::filesystem::remove(others);
}

TEST_F(Delivery, WithoutRoomItReportsEachPlace) {
  const auto directory = choose_directory(self_, std::size_t{1} << 60, true);
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().category, ErrorCategory::kAgent);
  EXPECT_NE(directory.error().message().find("/tmp: no room"), std::string::npos) << directory.error().message();
}

TEST_F(Delivery, TheMeetingSocketIsForItsUserAlone) {
  std::string path;
  {
    const auto meeting = test::must(MeetingSocket::listen(self_));
    path = meeting.path();
    EXPECT_LT(path.size(), sizeof(sockaddr_un::sun_path));
    struct stat facts {};
    ASSERT_EQ(::lstat(path.c_str(), &facts), 0);
    EXPECT_TRUE(S_ISSOCK(facts.st_mode));
    EXPECT_EQ(facts.st_mode & 07777, 0600u);
    const UniqueFd client = connect_to_path(path);
    ASSERT_TRUE(client);
    const Waiter waiter(self_, Clock::now() + std::chrono::seconds(10), -1);
    EXPECT_TRUE(meeting.accept(waiter));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Delivery, TheMeetingSocketTakesNobodyElse) {
  auto meeting = MeetingSocket::listen(self_);
  ASSERT_TRUE(meeting);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(connect_to_path(meeting->path()) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const Waiter waiter(self_, Clock::now() + std::chrono::milliseconds(30), -1);
  const auto connection = meeting->accept(waiter);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().category, ErrorCategory::kTimeout);
  const std::string path = meeting->path();
  meeting->close();
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace jtrace::attach
