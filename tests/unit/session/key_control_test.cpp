// Signals as requests. (The keys of a terminal are tested in tests/live/attach_keys_test.cpp.)
#include "session/key_control.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "tests/testlib/scratch_dir.h"

namespace jtrace::session {
namespace {

class KeyControlTest : public testing::Test {
 protected:
  KeyConsole console() {
    return {.show = [this](LogLevel, std::string_view text) { shown_ += std::string(text) + "\n"; },
            .prompt = [](std::string_view) {},
            .clear = [] {}};
  }
  std::string shown_;
};

TEST_F(KeyControlTest, EachSignalIsItsRequest) {
  KeyControl control("", console());
  EXPECT_TRUE(control.receive().empty());
  ::kill(::getpid(), SIGUSR1);
  ::kill(::getpid(), SIGRTMIN + 6);
  const auto requests = control.receive();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].request.verb, ControlVerb::kPause);
  EXPECT_EQ(requests[1].request.verb, ControlVerb::kStatus);
  EXPECT_EQ(requests[0].asker.source, &control);
  control.answer(requests[0].asker.client, DoneAnswer{});
  control.answer(requests[1].asker.client, RefusedAnswer{.why = "not now"});
  EXPECT_EQ(shown_, "pause: done\nstatus: not now\n");
}

TEST_F(KeyControlTest, FiltersAreReadAgainFromTheirFile) {
  test::ScratchDir folder;
  const std::string path = folder.file("filters");
  std::ofstream(path) << "java.util.* exclude\n";
  KeyControl control(path, console());
  ::kill(::getpid(), SIGRTMIN + 3);
  auto requests = control.receive();
  ASSERT_EQ(requests.size(), 1u);
  ASSERT_EQ(requests[0].request.filters.size(), 1u);
  EXPECT_EQ(requests[0].request.filters[0].class_pattern, "java.util.*");
  std::ofstream(path) << "this is no rule\n";
  ::kill(::getpid(), SIGRTMIN + 3);
  EXPECT_TRUE(control.receive().empty());
  EXPECT_TRUE(shown_.starts_with("filters: ")) << shown_;
}

TEST_F(KeyControlTest, WithoutAFileThereAreNoFiltersToRead) {
  KeyControl control("", console());
  ::kill(::getpid(), SIGRTMIN + 3);
  EXPECT_TRUE(control.receive().empty());
  EXPECT_EQ(shown_, "filters: none were given, and there is no file of --filters\n");
}

TEST_F(KeyControlTest, ALateSignalDoesNotEndTheProcess) {
  {
    KeyControl control("", console());
    ::kill(::getpid(), SIGUSR2);
  }
  SUCCEED();
}

}  // namespace
}  // namespace jtrace::session
