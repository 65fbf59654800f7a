#include "coreinspect/tools/core_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/core_file.h"
#include "tests/testlib/must.h"

namespace jtrace::coreinspect {
namespace {

class CoreInMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    child_ = ::fork();
    if (child_ == 0) {
      for (;;) ::pause();
    }
    ASSERT_GT(child_, 0);
    const auto process = test::must(target::Process::open(child_));
    copy_.emplace(test::must(target::ProcessCopy::take(process, {.max_stop = std::chrono::seconds(10), .pages = {}})));
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  pid_t child_ = -1;
  std::optional<target::ProcessCopy> copy_;
};

TEST_F(CoreInMemory, IsACoreWithoutAName) {
  const UniqueFd file = test::must(core_in_memory(*copy_, 1ull << 40));
  const auto core = test::must(target::CoreFile::open(path_of_core(file)));
  EXPECT_EQ(core.pid(), child_);
}

TEST_F(CoreInMemory, IsNotMadeWhereTheMachineHasNoRoomForIt) {
  const auto made = core_in_memory(*copy_, copy_->bytes() + 1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().category, ErrorCategory::kRefused);
  EXPECT_THAT(made.error().text, ::testing::HasSubstr("free"));
}

}  // namespace
}  // namespace jtrace::coreinspect
