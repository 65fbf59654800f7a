// A copy of a process that waits: of a child of the test, with the test's memory.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "target/process_copy.h"
#include "tests/testlib/must.h"

namespace jtrace::test {

class CopiedChild : public ::testing::Test {
 protected:
  void SetUp() override {
    child_ = ::fork();
    if (child_ == 0) {
      for (;;) ::pause();
    }
    ASSERT_GT(child_, 0);
    const auto process = must(target::Process::open(child_));
    copy_.emplace(must(target::ProcessCopy::take(process, {.max_stop = std::chrono::seconds(10), .pages = {}})));
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  pid_t child_ = -1;
  std::optional<target::ProcessCopy> copy_;
};

}  // namespace jtrace::test
