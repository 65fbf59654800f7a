// Waits for a monitor that a timer interrupts, joined; what only looks like one, not.
#include "sampling/split_waits.h"

#include <gtest/gtest.h>

#include "sampling/profile_counts.h"
#include "sampling/wait_parties.h"

namespace jtrace::sampling {
namespace {

constexpr std::uint64_t kMs = 1'000'000, kSp = 0x7000;

struct Part {
  std::uint64_t begin = 0, end = 0;
  std::string waker = kInterrupt;
  std::uint64_t sp = kSp;
  WaitKind kind = WaitKind::kMonitor;
  std::uint32_t tid = 7;
  bool preempted = false;
};

// What each was before, ms.
std::string before_of(const std::vector<Part>& parts) {
  SplitWaits waits;
  std::string text;
  for (const Part& part : parts) {
    SampleRecord sample;
    sample.registers = target::Registers::at(target::Isa::kX86_64, 0, part.sp);
    const Wait wait{.tid = part.tid,
                    .begin = part.begin,
                    .end = part.end,
                    .preempted = part.preempted,
                    .at = &sample,
                    .waker = part.waker.empty() ? nullptr : &part.waker};
    text += std::to_string(waits.earlier_part(wait, part.kind, "holder").ns / kMs) + " ";
  }
  return text;
}

TEST(SplitWaits, PartsThatATimerEndedAreOne) {
  EXPECT_EQ(
      before_of({{0, kMs}, {kMs + 20'000, 9 * kMs}, {9 * kMs + 20'000, 70 * kMs, "holder"}, {71 * kMs, 72 * kMs}}),
      "0 1 8 0 ");
}

TEST(SplitWaits, APreemptionBetweenThemIsNone) {
  EXPECT_EQ(before_of({{0, 8 * kMs},
                       {8 * kMs + 10'000, 12 * kMs, kInterrupt, kSp, WaitKind::kRunQueue, 7, true},
                       {12 * kMs + 10'000, 20 * kMs}}),
            "0 0 8 ");
}

TEST(SplitWaits, WhatTheHolderEndedOrBeganLaterOrElsewhereIsAnother) {
  EXPECT_EQ(before_of({{0, 8 * kMs, "holder"}, {8 * kMs + 10'000, 9 * kMs}}), "0 0 ");
  EXPECT_EQ(before_of({{0, 8 * kMs}, {9 * kMs, 10 * kMs}}), "0 0 ");
  EXPECT_EQ(before_of({{0, 8 * kMs}, {8 * kMs + 10'000, 10 * kMs, kInterrupt, kSp + 64}}), "0 0 ");
  EXPECT_EQ(before_of({{0, 8 * kMs}, {8 * kMs + 10'000, 10 * kMs, kInterrupt, kSp, WaitKind::kPark}}), "0 0 ");
  EXPECT_EQ(before_of({{0, 8 * kMs}, {8 * kMs + 10'000, 10 * kMs, kInterrupt, kSp, WaitKind::kMonitor, 8}}), "0 0 ");
}

TEST(SplitWaits, WithoutWakersAnIntervalIsATimer) {
  EXPECT_EQ(before_of({{0, kMs + 60'000, ""},
                       {kMs + 80'000, 9 * kMs + 200'000, ""},
                       {9 * kMs + 250'000, 73 * kMs + 500'000, ""},
                       {73 * kMs + 550'000, 100 * kMs, ""},
                       {100 * kMs + 50'000, 101 * kMs, ""}}),
            "0 1 9 73 0 ");
}

TEST(SplitWaits, CountOnceWithWhoEndedTheLast) {
  const coreinspect::ThreadReport thread;
  ProfileCounts counts({.processes = false, .waits = true, .cpu = false});
  counts.add(thread, 8 * kMs, WaitKind::kMonitor, {}, {.owner = "holder", .waker = ""});
  counts.add(thread, 2 * kMs, WaitKind::kMonitor, {}, {.owner = "holder", .waker = "holder"},
             {.ns = 8 * kMs, .owner = "holder"});
  ASSERT_EQ(counts.stacks().size(), 1u);
  const auto& [stack, count] = *counts.stacks().begin();
  EXPECT_EQ(count.samples, 1u);
  EXPECT_EQ(count.weight, 10 * kMs);
  EXPECT_EQ(count.longest, 10 * kMs);
  const WaitPartyCounts* parties = counts.parties_of(stack);
  ASSERT_NE(parties, nullptr);
  for (const auto* names : {&parties->owners(), &parties->wakers()}) {
    ASSERT_EQ(names->count("holder"), 1u);
    EXPECT_EQ(names->at("holder").times, 1u);
    EXPECT_EQ(names->at("holder").ns, 10 * kMs);
  }
}

}  // namespace
}  // namespace jtrace::sampling
