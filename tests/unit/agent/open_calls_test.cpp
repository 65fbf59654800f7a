#include "agent/methods/open_calls.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace jtrace::agent
