// The files of the control socket, of this process and of one that was killed.
#include "session/ctl_socket.h"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "tests/testlib/must.h"
#include "tests/testlib/scratch_dir.h"

namespace jtrace::session {
namespace {

using jtrace::test::must;

class CtlFiles : public ::testing::Test {
 protected:
  CtlFiles() {
    ::chmod(scratch_.path().c_str(), 0700);
    ::setenv("XDG_RUNTIME_DIR", scratch_.path().c_str(), 1);
  }
  ~CtlFiles() override { ::unsetenv("XDG_RUNTIME_DIR"); }
  std::string make(const std::string& name) {
    std::ofstream(scratch_.file(name)) << "17";
    return scratch_.file(name);
  }
  jtrace::test::ScratchDir scratch_;
};

TEST_F(CtlFiles, OfAJtraceThatWasKilledGoWithTheNextTrace) {
  constexpr const char* kEnded = "jtrace-4194304-77";  // no pid is as high
  const std::string socket = make(std::string(kEnded) + ".ctl"), lock = make(std::string(kEnded) + ".ctl.lock");
  const std::string held = make("jtrace-4194304-78.ctl.lock"), other = make("jtrace-x.ctl.lock");
  const auto fd = must(open_file(held, O_RDWR, 0));
  ASSERT_EQ(::flock(fd.get(), LOCK_EX), 0);
  const auto self = must(target::Process::open(::getpid()));
  const std::string own =
      make("jtrace-" + std::to_string(::getpid()) + "-" + std::to_string(self.start_ticks()) + ".ctl.lock");
  {
    const auto server = CtlServer::open(1, 1);
    ASSERT_TRUE(server) << server.error().message();
    EXPECT_FALSE(std::filesystem::exists(socket));
    EXPECT_FALSE(std::filesystem::exists(lock));
    EXPECT_TRUE(std::filesystem::exists(held)) << "another jtrace has it";
    EXPECT_TRUE(std::filesystem::exists(own)) << "its JVM runs: the next trace of it takes this lock";
    EXPECT_TRUE(std::filesystem::exists(other));
    EXPECT_TRUE(std::filesystem::exists(scratch_.file("jtrace-1-1.ctl")));
  }
  EXPECT_FALSE(std::filesystem::exists(scratch_.file("jtrace-1-1.ctl")));
}

}  // namespace
}  // namespace jtrace::session
