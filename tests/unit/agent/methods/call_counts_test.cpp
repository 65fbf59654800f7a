// The counters of calls, incremented as by the callouts' code (agent/methods/callout_class.cpp, add_count).
#include "agent/methods/call_counts.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace jtrace::agent {
namespace {

using Word = std::atomic<std::uint64_t>;

class CallCountsTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kOwnThread = 7;

  void SetUp() override { ASSERT_TRUE(counts_.make()); }

  CallCounts::Entry& entry(std::uint64_t thread) {
    return reinterpret_cast<CallCounts::Entry*>(counts_.entries_address())[thread % CallCounts::kEntries];
  }
  void call(std::uint64_t thread, std::uint32_t method) {
    const std::uint32_t index = method % CallCounts::kMethods;
    CallCounts::Entry& mine = entry(thread);
    if (mine.owner.load() == thread) {
      Word& counter = reinterpret_cast<Word*>(mine.block.load(std::memory_order_relaxed))[index];
      counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    const std::uint64_t shared = reinterpret_cast<Word*>(counts_.shared_address())->load();
    if (shared == 0) return;
    reinterpret_cast<Word*>(shared)[index].fetch_add(1);
    if (mine.owner.load() == 0) counts_.claim(thread);
  }

  CallCounts counts_;
};

TEST_F(CallCountsTest, CountsOnlyBetweenStartAndStop) {
  call(1, 5);
  ASSERT_TRUE(counts_.start(kOwnThread));
  for (int i = 0; i < 10; ++i) call(1, 5);
  call(2, 5);
  call(2, 6);
  counts_.stop();
  call(1, 5);
  EXPECT_EQ(counts_.sum(5), 11u);
  EXPECT_EQ(counts_.sum(6), 1u);
  ASSERT_TRUE(counts_.start(kOwnThread));
  EXPECT_EQ(counts_.sum(5), 0u);
}

TEST_F(CallCountsTest, WhatTheAgentItselfCallsIsNotCounted) {
  ASSERT_TRUE(counts_.start(kOwnThread));
  call(kOwnThread, 5);
  EXPECT_EQ(counts_.sum(5), 0u);
}

// Thread.tid is 0 while AttachCurrentThread runs the constructor of the thread's own java.lang.Thread.
TEST_F(CallCountsTest, AThreadThatHasNoIdYetShares) {
  call(0, 5);
  for (int session = 0; session < 2; ++session) {
    ASSERT_TRUE(counts_.start(kOwnThread));
    call(0, 5);
    call(CallCounts::kEntries, 5);
    counts_.release(CallCounts::kEntries);
    call(0, 5);
    EXPECT_EQ(counts_.sum(5), 3u);
    counts_.stop();
    call(0, 5);
  }
}

TEST_F(CallCountsTest, MoreThreadsThanBlocksLoseNothing) {
  ASSERT_TRUE(counts_.start(kOwnThread));
  constexpr std::uint64_t kThreads = 2 * CallCounts::kBlocks;
  constexpr std::uint64_t kCalls = 20'000;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i)
    threads.emplace_back([this, i] {
      for (std::uint64_t k = 0; k < kCalls; ++k) call(100 + i, 5);
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(counts_.sum(5), kThreads * kCalls);
}

TEST_F(CallCountsTest, ThreadsWhoseIdsCollideShare) {
  ASSERT_TRUE(counts_.start(kOwnThread));
  for (int i = 0; i < 3; ++i) {
    call(20, 5);
    call(20 + CallCounts::kEntries, 5);
  }
  EXPECT_EQ(entry(20).owner.load(), 20u);
  EXPECT_EQ(counts_.sum(5), 6u);
}

TEST_F(CallCountsTest, AThreadGoesOnInTheBlockOfOneThatEnded) {
  ASSERT_TRUE(counts_.start(kOwnThread));
  for (std::uint64_t thread = 100; thread < 100 + CallCounts::kBlocks; ++thread) call(thread, 5);
  const std::uint64_t block = entry(100).block.load();
  call(500, 5);
  EXPECT_NE(entry(500).owner.load(), 500u);
  counts_.release(500);
  counts_.release(100);
  for (int i = 0; i < 2; ++i) call(501, 5);
  EXPECT_EQ(entry(501).owner.load(), 501u);
  EXPECT_EQ(entry(501).block.load(), block);
  EXPECT_EQ(counts_.sum(5), CallCounts::kBlocks + 3u);
}

}  // namespace
}  // namespace jtrace::agent
