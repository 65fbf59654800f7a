// Frames as the agent writes them, read by jtrace (trace/record/frames.def).
#include "session/control_channel.h"

#include <gtest/gtest.h>

#include <string>

namespace jtrace::session {
namespace {

namespace record = trace::record;

using record::frame_bytes;

template <class Decode>
void expect_no_cut(const std::string& bytes, Decode decode) {
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size))) << size;
}

TEST(Frames, AHelloIsKept) {
  const std::string bytes = frame_bytes(record::HelloFields{.version = record::kControlVersion,
                                                            .nspid = 1,
                                                            .jvmti_version = 2,
                                                            .at_start = 1,
                                                            .agent_version = "3",
                                                            .options = "four"});
  const auto hello = decode_hello(bytes);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->nspid, 1u);
  EXPECT_EQ(hello->jvmti_version, 2u);
  EXPECT_EQ(hello->at_start, 1u);
  EXPECT_EQ(hello->agent_version, "3");
  EXPECT_EQ(hello->options, "four");
  expect_no_cut(bytes, decode_hello);
}

TEST(Frames, AStartedIsKept) {
  const std::string bytes = frame_bytes(record::StartedFields{.status = 2, .events = 1ull << 40, .text = "why"});
  const auto started = decode_started(bytes);
  ASSERT_TRUE(started);
  EXPECT_EQ(started->status, 2u);
  EXPECT_EQ(started->events, 1ull << 40);
  EXPECT_EQ(started->text, "why");
  expect_no_cut(bytes, decode_started);
}

TEST(Frames, AnAnswerIsKept) {
  const std::string bytes = frame_bytes(record::AnswerFields{.status = 1,
                                                             .paused = 1,
                                                             .collections = 3,
                                                             .has_counts = 1,
                                                             .counted = 4,
                                                             .coverage = "five",
                                                             .has_callouts = 1,
                                                             .methods_with_callouts = 6,
                                                             .rewritten = "seven"});
  const auto answer = decode_answer(bytes);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->collections, 3u);
  EXPECT_EQ(answer->counted, 4u);
  EXPECT_EQ(answer->coverage, "five");
  EXPECT_EQ(answer->methods_with_callouts, 6u);
  EXPECT_EQ(answer->rewritten, "seven");
  expect_no_cut(bytes, decode_answer);
}

TEST(Frames, OfHelloOfAnotherVersionTheVersionAloneIsRead) {
  const auto hello = decode_hello(frame_bytes(record::HelloFields{.version = 4711}).substr(0, 4));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->version, 4711u);
}

TEST(Frames, AnAnswerHasTheReasonOfARefusal) {
  EXPECT_EQ(refusal_in(Answer{}), "");
  EXPECT_EQ(refusal_in(Answer{.status = static_cast<std::uint32_t>(record::AnswerStatus::kNothingCounted)}),
            "nothing is counted");
  EXPECT_NE(refusal_in(Answer{.status = 99}), "");
}

TEST(Frames, AnAnswerHasTheLinesOfStatus) {
  EXPECT_EQ(agent_lines(Answer{.paused = 1, .collections = 7}), "paused=1\ncollections=7\n");
  EXPECT_EQ(agent_lines(Answer{.has_callouts = 1, .rewritten = "classes=3"}),
            "paused=0\ncollections=0\nrewritten=classes=3\n");
}

}  // namespace
}  // namespace jtrace::session
