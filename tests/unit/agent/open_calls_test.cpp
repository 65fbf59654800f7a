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

TEST_F(OpenCallsTest, a_thread_finds_the_stack_it_was_given) {
  EXPECT_EQ(calls_.find(5), nullptr);
  OpenCalls::Stack* stack = calls_.claim(5);
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->depth, 0u);
  EXPECT_EQ(calls_.find(5), stack);
  EXPECT_EQ(calls_.find(5 + OpenCalls::kEntries), nullptr);
  EXPECT_NE(calls_.claim(6), stack);
  EXPECT_EQ(calls_.slower_than(), 1000u);
}

TEST_F(OpenCallsTest, a_stack_goes_to_the_next_thread_and_is_empty_then) {
  OpenCalls::Stack* stack = calls_.claim(5);
  ASSERT_NE(stack, nullptr);
  stack->depth = 3;
  calls_.release(6);  // has none
  EXPECT_EQ(calls_.find(5), stack);
  calls_.release(5);
  EXPECT_EQ(calls_.find(5), nullptr);
  EXPECT_EQ(calls_.claim(7), stack);
  EXPECT_EQ(stack->depth, 0u);
}

TEST_F(OpenCallsTest, of_two_threads_whose_ids_collide_one_has_a_stack) {
  ASSERT_NE(calls_.claim(5), nullptr);
  EXPECT_EQ(calls_.claim(5 + OpenCalls::kEntries), nullptr);
  calls_.release(5);
  EXPECT_NE(calls_.claim(5 + OpenCalls::kEntries), nullptr);
}

TEST_F(OpenCallsTest, there_are_so_many_stacks_and_all_come_back) {
  for (std::uint64_t thread = 1; thread <= OpenCalls::kMostStacks; ++thread)
    ASSERT_NE(calls_.claim(thread), nullptr) << thread;
  EXPECT_EQ(calls_.claim(OpenCalls::kMostStacks + 1), nullptr);
  calls_.forget();
  EXPECT_EQ(calls_.find(1), nullptr);
  EXPECT_NE(calls_.claim(OpenCalls::kMostStacks + 1), nullptr);
}

TEST_F(OpenCallsTest, the_innermost_call_of_a_method_is_found_and_left) {
  OpenCalls::Stack* stack = calls_.claim(5);
  ASSERT_NE(stack, nullptr);
  for (const std::uint32_t method : {7u, 8u, 7u, 9u}) stack->frames[stack->depth++].method = method;
  stack->frames[0].method |= OpenCalls::kWritten;
  EXPECT_EQ(stack->find(7), 3u);
  EXPECT_EQ(stack->find(6), 0u);
  stack->leave(3);
  EXPECT_EQ(stack->depth, 2u);
  EXPECT_EQ(stack->find(7), 1u);
  stack->depth = OpenCalls::kFrames + 5;
  EXPECT_EQ(stack->used(), OpenCalls::kFrames);
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

TEST_F(LateFreesTest, wait_one_look_at_least) {
  frees_.add(70);
  EXPECT_EQ(due(), Ids());
  frees_.add(71);
  EXPECT_EQ(due(), Ids{70});
  EXPECT_EQ(due(), Ids{71});
  EXPECT_EQ(due(), Ids());
}

TEST_F(LateFreesTest, wait_for_the_calls_that_refer_to_them) {
  OpenCalls::Stack* stack = calls_.claim(5);
  ASSERT_NE(stack, nullptr);
  for (const std::uint64_t object : {70u, 0u, 71u}) stack->frames[stack->depth++].object = object;
  stack->frames[3].object = 72;  // of a call that is over
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

TEST_F(LateFreesTest, go_at_the_end_whatever_is_open) {
  OpenCalls::Stack* stack = calls_.claim(5);
  ASSERT_NE(stack, nullptr);
  stack->frames[stack->depth++].object = 70;
  frees_.add(70);
  EXPECT_EQ(due(), Ids());
  frees_.add(71);
  EXPECT_EQ(frees_.take_all(), (Ids{70, 71}));
  EXPECT_EQ(due(), Ids());
}

}  // namespace
}  // namespace jtrace::agent
