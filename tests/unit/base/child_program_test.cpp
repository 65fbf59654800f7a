// A program as a child: what it prints, how it ended, and signals that are for it.
#include "base/child_program.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "base/unique_fd.h"

namespace jtrace {
namespace {

std::string content(int fd) {
  char text[200];
  const ssize_t size = ::pread(fd, text, sizeof text, 0);
  return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
}

TEST(ChildProgram, ItsOutputIsInTheFileAndItsStatusIsReturned) {
  const UniqueFd file(::memfd_create("out", MFD_CLOEXEC));
  EXPECT_EQ(run_child_program({"/bin/sh", "-c", "echo $0 $1; exit 9", "a b", "c"}, file.get()).value(), 9);
  EXPECT_EQ(content(file.get()), "a b c\n");
}

TEST(ChildProgram, ASignalThatEndedItIsTold) {
  const UniqueFd file(::memfd_create("out", MFD_CLOEXEC));
  EXPECT_EQ(run_child_program({"/bin/sh", "-c", "kill -9 $$"}, file.get()).value(), 128 + SIGKILL);
}

TEST(ChildProgram, OneThatCannotBeStartedIsAnError) {
  EXPECT_EQ(run_child_program({"/no/such/program"}, 1).error().category, ErrorCategory::kSystem);
}

TEST(ChildProgram, ASignalIsPassedAndTheChildGoesOnToItsOwnEnd) {
  const UniqueFd file(::memfd_create("out", MFD_CLOEXEC));
  std::thread later([&, main = ::pthread_self()] {
    while (content(file.get()).empty()) ::usleep(1000);
    ::pthread_kill(main, SIGINT);
  });
  EXPECT_EQ(run_child_program({"/bin/sh", "-c", "trap 'echo told; exit 3' INT; echo on; while :; do sleep 0.01; done"},
                              file.get())
                .value(),
            3);
  later.join();
  EXPECT_EQ(content(file.get()), "on\ntold\n");
}

}  // namespace
}  // namespace jtrace
