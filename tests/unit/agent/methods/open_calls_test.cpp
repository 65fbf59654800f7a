#include "agent/methods/open_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "agent/methods/late_frees.h"

namespace jtrace::agent {
namespace {

class OpenCallsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(calls_.make());
    calls_.start(1000);
  }
  OpenCalls calls_;
};

TEST_F(OpenCallsTest, AThreadFindsTheStackItWasGiven) {
  EXPECT_EQ(calls_.find(5), nullptr);
  OpenCalls::Stack* stack = calls_.claim(5);
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->depth, 0u);
  EXPECT_EQ(calls_.find(5), stack);
  EXPECT_EQ(calls_.find(5 + OpenCalls::kEntries), nullptr);
  EXPECT_NE(calls_.claim(6), stack);
  EXPECT_EQ(stack->threshold, 1000u);
}

TEST_F(OpenCallsTest, AStackGoesToTheNextThreadAndIsEmptyThen) {
  OpenCalls::Stack* stack = calls_.claim(5);
  ASSERT_NE(stack, nullptr);
  stack->depth = 3;
  calls_.release(6);  // it has none
  EXPECT_EQ(calls_.find(5), stack);
  calls_.release(5);
  EXPECT_EQ(calls_.find(5), nullptr);
  EXPECT_EQ(calls_.claim(7), stack);
  EXPECT_EQ(stack->depth, 0u);
}

TEST_F(OpenCallsTest, ASlowCallIsWantedAndNoOther) {
  EXPECT_TRUE(calls_.is_wanted(1000, 1000));
  EXPECT_TRUE(calls_.is_wanted(1000, 0)) << "as the clock has it";
  EXPECT_FALSE(calls_.is_wanted(999, 999));
  EXPECT_FALSE(calls_.keeps_longest());
}

TEST_F(OpenCallsTest, OfTheShorterOnesTheLongestSoFarAreWanted) {
  calls_.start(1000, 100);
  ASSERT_NE(calls_.claim(5), nullptr);
  EXPECT_EQ(calls_.find(5)->threshold, 100u);
  EXPECT_FALSE(calls_.is_wanted(99, 99));
  EXPECT_TRUE(calls_.is_wanted(300, 300));
  EXPECT_TRUE(calls_.is_wanted(300, 300)) << "it was not written";
  calls_.note_longest(300);
  EXPECT_FALSE(calls_.is_wanted(300, 300));
  EXPECT_FALSE(calls_.is_wanted(400, 299)) << "the clock was late: it may have taken less";
  EXPECT_TRUE(calls_.is_wanted(301, 301));
  EXPECT_TRUE(calls_.is_wanted(1500, 0)) << "a slow one";
  calls_.note_longest(200);
  EXPECT_FALSE(calls_.is_wanted(250, 250)) << "the longest stays";
  calls_.start(1000, 100);
  EXPECT_TRUE(calls_.is_wanted(100, 100)) << "of a trace of its own";
}

TEST_F(OpenCallsTest, OfTwoThreadsWhoseIdsCollideOneHasAStack) {
  ASSERT_NE(calls_.claim(5), nullptr);
  EXPECT_EQ(calls_.claim(5 + OpenCalls::kEntries), nullptr);
  calls_.release(5);
  EXPECT_NE(calls_.claim(5 + OpenCalls::kEntries), nullptr);
}

// Thread.tid is 0 while AttachCurrentThread runs the constructor of the thread's own java.lang.Thread.
TEST_F(OpenCallsTest, AThreadThatHasNoIdYetHasNoStack) {
  for (int session = 0; session < 2; ++session) {
    EXPECT_EQ(calls_.find(0), nullptr);
    EXPECT_EQ(calls_.claim(0), nullptr);
    EXPECT_EQ(calls_.claim(OpenCalls::kEntries), nullptr);
    EXPECT_NE(reinterpret_cast<const OpenCalls::Entry*>(calls_.entries_address())->owner.load(), 0u);
    calls_.start(1000);
  }
}

TEST_F(OpenCallsTest, ThereAreSoManyStacksAndAllComeBack) {
  for (std::uint64_t thread = 1; thread <= OpenCalls::kMostStacks; ++thread)
    ASSERT_NE(calls_.claim(thread), nullptr) << thread;
  EXPECT_EQ(calls_.claim(OpenCalls::kMostStacks + 1), nullptr);
  calls_.forget();
  EXPECT_EQ(calls_.find(1), nullptr);
  EXPECT_NE(calls_.claim(OpenCalls::kMostStacks + 1), nullptr);
}

TEST_F(OpenCallsTest, TheInnermostCallOfAMethodIsFoundAndLeft) {
  OpenCalls::Stack* stack = calls_.claim(5);
  ASSERT_NE(stack, nullptr);
  for (const std::uint32_t method : {7u, 8u, 7u, 9u}) stack->frames[stack->depth++].method = method;
  stack->frames[0].set_written();
  EXPECT_EQ(stack->find(7), 3u);
  EXPECT_EQ(stack->find(6), 0u);
  stack->leave(3);
  EXPECT_EQ(stack->depth, 2u);
  EXPECT_EQ(stack->find(7), 1u);
  stack->depth = OpenCalls::kFrames + 5;
  EXPECT_EQ(stack->used(), OpenCalls::kFrames);
}

class LeftConstructors : public OpenCallsTest {
 protected:
  void SetUp() override {
    OpenCallsTest::SetUp();
    for (const std::uint32_t each : {7u, 8u}) calls_.note_constructor(each);
    stack_ = calls_.claim(5);
    ASSERT_NE(stack_, nullptr);
  }
  void open(const std::vector<std::uint32_t>& methods) {
    for (const std::uint32_t method : methods) stack_->frames[stack_->depth++] = {method, 1, 70, 0};
  }
  using Methods = std::vector<std::uint32_t>;
  // The calls that are dropped if the thread is in the constructors of `inside`.
  Methods drop(const Methods& inside) {
    Methods dropped;
    ends_.clear();
    calls_.drop_left(*stack_, inside, [&](const OpenCalls::Frame& frame, std::uint64_t end) {
      dropped.push_back(static_cast<std::uint32_t>(frame.method));
      ends_.push_back(end);
    });
    return dropped;
  }
  // The calls whose entries would be written.
  Methods inside() const {
    Methods methods;
    for (std::uint64_t at = 0; at < stack_->used(); ++at)
      if (!stack_->frames[at].has_left()) methods.push_back(static_cast<std::uint32_t>(stack_->frames[at].method));
    return methods;
  }
  OpenCalls::Stack* stack_ = nullptr;
  std::vector<std::uint64_t> ends_;  // of what drop() dropped
};

TEST_F(LeftConstructors, HadEndedWhenTheNextCallBegan) {
  open({7, 8, 2, 7, 8});
  for (std::uint64_t at = 0; at < 5; ++at) stack_->frames[at].start = 100 + at;
  EXPECT_EQ(drop({}), (Methods{8, 7, 8, 7}));
  EXPECT_EQ(ends_, (std::vector<std::uint64_t>{0, 0, 102, 102}));
}

// Its exit would end them too.
TEST_F(LeftConstructors, WaitForTheWrittenCallsAboveThem) {
  open({7, 1, 8, 2});
  for (const std::uint64_t at : {0u, 1u}) stack_->frames[at].set_written();
  EXPECT_EQ(drop({}), Methods{8});
  EXPECT_EQ(inside(), (Methods{7, 1, 2}));
  stack_->leave(2);
  EXPECT_EQ(drop({}).size(), 1u);
  EXPECT_EQ(stack_->depth, 0u);
}

TEST_F(LeftConstructors, OtherMethodsAreNeverAmongThem) {
  EXPECT_TRUE(calls_.has_constructors());
  open({1, 2});
  EXPECT_FALSE(calls_.has_open_constructor(*stack_));
  open({7});
  EXPECT_TRUE(calls_.has_open_constructor(*stack_));
  EXPECT_EQ(drop({}), Methods{7});
  EXPECT_EQ(stack_->depth, 2u);
  EXPECT_EQ(inside(), (Methods{1, 2}));
}

TEST_F(LeftConstructors, OnTopAreTakenOffAndOthersWithTheNextExit) {
  open({7, 7, 2, 8, 7});
  EXPECT_EQ(drop({}), (Methods{7, 8, 7, 7}));
  EXPECT_EQ(stack_->depth, 3u);
  EXPECT_EQ(inside(), Methods{2});
  EXPECT_EQ(stack_->find(7), 0u);
  EXPECT_EQ(stack_->frames[0].object, 0u);
  EXPECT_EQ(drop({}), Methods{});  // once
  stack_->leave(stack_->find(2));
  EXPECT_EQ(stack_->depth, 0u);
}

TEST_F(LeftConstructors, ThatTheThreadIsInStay) {
  open({7, 7, 8, 1, 7, 2});
  EXPECT_EQ(drop({7, 8}), (Methods{7, 7}));  // of the outer calls of 7 any one may be dropped
  EXPECT_EQ(inside(), (Methods{8, 1, 7, 2}));
}

TEST_F(LeftConstructors, ThoseThatBeganBeforeTheTraceHideNone) {
  open({8, 7, 7, 1});
  EXPECT_EQ(drop({9, 7, 9, 8, 9}), Methods{7});
  EXPECT_EQ(inside(), (Methods{8, 7, 1}));
}

TEST_F(LeftConstructors, MakeRoomOnAFullStack) {
  open({1});
  open(Methods(OpenCalls::kFrames - 1, 7));
  stack_->depth += 1024;  // beyond the stack
  EXPECT_EQ(drop({}).size(), OpenCalls::kFrames - 1);
  EXPECT_EQ(stack_->depth, 1u);
}

using Ids = std::vector<std::uint64_t>;

class LateFreesTest : public OpenCallsTest {
 protected:
  Ids due() {
    Ids ids = frees_.take_due(calls_);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  LateFrees frees_;
};

TEST_F(LateFreesTest, WaitOneLookAtLeast) {
  frees_.add(70);
  EXPECT_EQ(due(), Ids());
  frees_.add(71);
  EXPECT_EQ(due(), Ids{70});
  EXPECT_EQ(due(), Ids{71});
  EXPECT_EQ(due(), Ids());
}

TEST_F(LateFreesTest, WaitForTheCallsThatReferToThem) {
  OpenCalls::Stack* stack = calls_.claim(5);
  ASSERT_NE(stack, nullptr);
  for (const std::uint64_t object : {70u, 0u, 71u}) stack->frames[stack->depth++].object = object;
  stack->frames[3].object = 72;  // of a call that has ended
  KeptValues::Value value{};
  value.bits = 73;
  value.depth = 1;
  value.kind = static_cast<std::uint8_t>(record::ValueKind::kObject);
  ASSERT_TRUE(stack->values.keep(value, ""));
  value.bits = 74;  // an int
  value.position = 1;
  value.kind = static_cast<std::uint8_t>(record::ValueKind::kPrimitive);
  ASSERT_TRUE(stack->values.keep(value, ""));
  for (const std::uint64_t object : {70u, 71u, 72u, 73u, 74u, 75u}) frees_.add(object);
  EXPECT_EQ(due(), Ids());
  EXPECT_EQ(due(), (Ids{72, 74, 75}));
  stack->leave(2);
  EXPECT_EQ(due(), (Ids{71, 73}));
  calls_.release(5);
  EXPECT_EQ(due(), Ids{70});
}

TEST_F(LateFreesTest, GoAtTheEndWhateverIsOpen) {
  OpenCalls::Stack* stack = calls_.claim(5);
  ASSERT_NE(stack, nullptr);
  stack->frames[stack->depth++].object = 70;
  frees_.add(70);
  EXPECT_EQ(due(), Ids());
  frees_.add(71);
  EXPECT_EQ(frees_.take_all(), (Ids{70, 71}));
  EXPECT_EQ(due(), Ids());
}

// Times in ms.
class OpenCallsWaits : public OpenCallsTest {
 protected:
  static constexpr std::uint32_t kCaller = 1, kSynchronized = 2, kPlain = 3;
  static constexpr std::uint64_t kMs = 1'000'000;
  void SetUp() override {
    ASSERT_TRUE(calls_.make());
    calls_.start(100 * kMs);
    calls_.note_synchronized(kSynchronized);
    stack_ = calls_.claim(5);
    ASSERT_NE(stack_, nullptr);
  }
  void push(std::uint32_t method, std::uint64_t ms) {
    stack_->frames[stack_->depth] = {};
    stack_->frames[stack_->depth].method = method;
    stack_->frames[stack_->depth++].start = ms * kMs;
  }
  void wait(std::uint64_t from, std::uint64_t to) {
    calls_.begin_wait(*stack_, from * kMs);
    calls_.end_wait(*stack_, to * kMs);
  }
  std::uint64_t start_of(std::size_t at) const { return stack_->frames[at].start / kMs; }
  OpenCalls::Stack* stack_ = nullptr;
};

TEST_F(OpenCallsWaits, BelongToTheSynchronizedMethodThatWaited) {
  push(kCaller, 1000);
  wait(1010, 1080);
  EXPECT_EQ(stack_->threshold, 30 * kMs) << "with its wait the call is slow after 30 ms more";
  push(kSynchronized, 1080);
  calls_.settle_wait(*stack_);
  EXPECT_EQ(start_of(0), 1000u);
  EXPECT_EQ(start_of(1), 1010u);
  EXPECT_TRUE(stack_->frames[1].has_exact_start());
  EXPECT_FALSE(stack_->frames[0].has_exact_start());
  EXPECT_EQ(stack_->threshold, 100 * kMs);
}

TEST_F(OpenCallsWaits, LongerThanTheThresholdPassOnEachExit) {
  wait(1000, 1400);
  EXPECT_EQ(stack_->threshold, 0u);
  push(kSynchronized, 1400);
  calls_.settle_wait(*stack_);
  EXPECT_EQ(start_of(0), 1000u);
}

TEST_F(OpenCallsWaits, OfABlockBelongToNoCalleeOfItsMethod) {
  push(kCaller, 1000);
  wait(1010, 1200);
  push(kPlain, 1200);
  calls_.settle_wait(*stack_);
  EXPECT_EQ(start_of(1), 1200u);
  --stack_->depth;
  push(kSynchronized, 1201);
  calls_.settle_wait(*stack_);
  EXPECT_EQ(start_of(1), 1201u) << "it has been settled";
}

TEST_F(OpenCallsWaits, AreNotGivenToACallThatBeginsLater) {
  wait(1000, 1200);
  push(kSynchronized, 1300);
  calls_.settle_wait(*stack_);
  EXPECT_EQ(start_of(0), 1300u);
}

TEST_F(OpenCallsWaits, WithinTheMethodDoNotTakeItsOwnWaitAway) {
  wait(1000, 1200);
  push(kSynchronized, 1200);
  wait(1210, 1220);
  EXPECT_EQ(start_of(0), 1000u);
}

TEST_F(OpenCallsWaits, WhoseMethodHasEndedUnseenAreForgotten) {
  push(kCaller, 1000);
  wait(1010, 1020);
  --stack_->depth;  // without an exit that was passed on
  calls_.settle_wait(*stack_);
  EXPECT_EQ(stack_->threshold, 100 * kMs);
  EXPECT_EQ(stack_->wait_until, 0u);
}

}  // namespace
}  // namespace jtrace::agent
