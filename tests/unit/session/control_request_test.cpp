#include "session/control_request.h"

#include <gtest/gtest.h>

namespace jtrace::session {
namespace {

TEST(ControlRequest, EveryVerbComesBackFromItsText) {
  for (const ControlVerb verb : control_verbs()) {
    const auto read = parse_control_request(to_lines({.verb = verb}));
    ASSERT_TRUE(read) << word_of(verb);
    EXPECT_EQ(read->verb, verb);
    EXPECT_TRUE(read->filters.empty());
  }
  EXPECT_EQ(control_verbs().size(), 9u);
}

TEST(ControlRequest, FiltersCarryTheirRules) {
  const auto read = parse_control_request("filters\njava.* exclude\n\n* run include\n");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->filters.size(), 2u);
  EXPECT_EQ(read->filters[0].class_pattern, "java.*");
  EXPECT_FALSE(read->filters[0].include);
  EXPECT_EQ(parse_control_request(to_lines(*read))->filters.size(), 2u);
}

TEST(ControlRequest, WhatMakesNoSenseIsAUsageError) {
  for (const char* lines : {"", "\n", "nonsense\n", "filters\njava.* run maybe\n"}) {
    const auto read = parse_control_request(lines);
    ASSERT_FALSE(read) << lines;
    EXPECT_EQ(read.error().category, ErrorCategory::kUsage);
    EXPECT_EQ(status_of(refusal_of(read.error())), ExitStatus::kUsage);
  }
}

TEST(ControlAnswer, HasTheStatusAndTheLinesOfItsKind) {
  EXPECT_EQ(text_of(DoneAnswer{}), "");
  EXPECT_EQ(text_of(FlushedAnswer{7}), "bytes=7\n");
  EXPECT_EQ(text_of(CountedAnswer{3}), "methods=3\n");
  EXPECT_EQ(status_of(EndedAnswer{ExitStatus::kPartial, "3 events"}), ExitStatus::kPartial);
  EXPECT_EQ(text_of(RefusedAnswer{.why = "no"}), "no\n");
  EXPECT_EQ(text_of(StatusAnswer{.state = TraceState::kPaused, .pid = 1, .jtrace = 2, .file = "f", .agent = "a=b\n"}),
            "state=paused\npid=1\njtrace=2\nfile=f\nseconds=0\nevents=0\nbytes=0\nlost=0\na=b\n");
}

}  // namespace
}  // namespace jtrace::session
