// The rule about carriers that virtual threads keep, on both sides of its boundaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/rules.h"
#include "tests/unit/diagnose/found_by.h"

namespace jtrace::diagnose {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Facts three_looks(const std::vector<ThreadFact>& threads) {
  Facts facts{.target = "4711"};
  for (std::uint64_t i = 0; i < 3; ++i) facts.looks.push_back({.ns = i * kSecond, .threads = threads});
  return facts;
}

std::vector<ThreadFact> pinned_threads() {
  return {{.key = 1, .name = "ForkJoinPool-1-worker-1"},
          {.key = 2,
           .name = "v",
           .is_virtual = true,
           .virtual_state = "PINNED",
           .carrier = "ForkJoinPool-1-worker-1",
           .frames = {{"App.wait", "App.java:3", 1}}},
          {.key = 3, .name = "w", .is_virtual = true, .virtual_state = "STARTED"}};
}

// The carrier that is kept has not run, as the kernel says.
Facts pinned_looks(const std::vector<ThreadFact>& threads) {
  Facts facts = three_looks(threads);
  for (ThreadsLook& look : facts.looks) {
    look.threads[0].ran_ns = 0;
    look.threads[0].measured_ns = look.ns;
  }
  return facts;
}

TEST(PinnedRule, NeedsAllCarriersKeptAndAReadyThread) {
  EXPECT_THAT(found_by(find_pinned_carriers, pinned_looks(pinned_threads())).at(0).sentence,
              AllOf(HasSubstr("1 carrier is kept"), HasSubstr("1 other is ready")));
  auto none_ready = pinned_threads();
  none_ready[2].virtual_state = "PARKED";
  EXPECT_EQ(found_by(find_pinned_carriers, pinned_looks(none_ready)).at(0).confidence, Confidence::kHint);
  auto a_free_one = pinned_threads();
  a_free_one.push_back({.key = 4, .name = "ForkJoinPool-1-worker-2"});
  EXPECT_EQ(found_by(find_pinned_carriers, pinned_looks(a_free_one)).at(0).confidence, Confidence::kHint);
  // Whether the one that is kept has run is not known: its thread may be running.
  EXPECT_THAT(found_by(find_pinned_carriers, three_looks(a_free_one)), IsEmpty());
  Facts moved = pinned_looks(pinned_threads());
  moved.looks[1].threads[1].frames[0].bci = 9;
  EXPECT_THAT(found_by(find_pinned_carriers, moved), IsEmpty());
}

// Three carriers: one is kept, one runs a virtual thread all the time, one is idle.
TEST(PinnedRule, CountsTheCarriersThatAreLeft) {
  auto threads = pinned_threads();
  threads.push_back({.key = 4, .name = "ForkJoinPool-1-worker-2", .ran_ns = 0});
  threads.push_back({.key = 5, .name = "ForkJoinPool-1-worker-3"});
  threads.push_back({.key = 6, .name = "s", .is_virtual = true, .carrier = "ForkJoinPool-1-worker-2"});
  Facts facts = pinned_looks(threads);
  for (ThreadsLook& look : facts.looks) look.threads[3].ran_ns = look.threads[3].measured_ns = look.ns;
  const auto found = found_by(find_pinned_carriers, facts);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].confidence, Confidence::kHint);
  EXPECT_THAT(found[0].sentence, HasSubstr("1 of 3 carriers of virtual threads is kept by \"v\", which waits"));
  EXPECT_THAT(found[0].evidence, ElementsAre(HasSubstr("at App.wait(App.java:3)"),
                                             "\"s\" #6 runs on \"ForkJoinPool-1-worker-2\" without a pause",
                                             "1 carrier is left for all others"));
  // The JDK replaces a carrier that is kept by Object.wait.
  for (ThreadsLook& look : facts.looks)
    look.threads[1].frames.insert(look.threads[1].frames.begin(), {"java.lang.Object.wait0"});
  EXPECT_THAT(found_by(find_pinned_carriers, facts), IsEmpty());
}

// What keeps the thread on its carrier is in its frames; the command that follows is about this thread.
TEST(PinnedRule, SaysWhatPinsTheThreadAndShowsItsStack) {
  auto threads = pinned_threads();
  threads[1].pinned_by = {"the class initializer of shop.Rates"};
  const Finding all = found_by(find_pinned_carriers, pinned_looks(threads)).at(0);
  EXPECT_THAT(all.sentence, HasSubstr("that waits, pinned by the class initializer of shop.Rates, and 1 other"));
  EXPECT_EQ(all.next, "jtrace stack 4711 --java --thread v");
  threads.push_back({.key = 4, .name = "ForkJoinPool-1-worker-2", .ran_ns = 0});
  threads.push_back({.key = 5, .name = "ForkJoinPool-1-worker-3"});
  threads.push_back({.key = 6,
                     .name = "",
                     .is_virtual = true,
                     .carrier = "ForkJoinPool-1-worker-2",
                     .pinned_by = {"native method App.call", "a monitor it holds (a Cart)"},
                     .frames = {{"App.call", "App.java:8", 1}}});
  Facts facts = pinned_looks(threads);
  for (ThreadsLook& look : facts.looks) look.threads[3].measured_ns = look.ns;
  const Finding some = found_by(find_pinned_carriers, facts).at(0);
  EXPECT_THAT(some.sentence, HasSubstr("a virtual thread that waits: they cannot"));
  EXPECT_THAT(some.evidence,
              ::testing::IsSupersetOf(
                  {"\"v\" #2 keeps \"ForkJoinPool-1-worker-1\", pinned by the class initializer of shop.Rates, at "
                   "App.wait(App.java:3), in all of 3 samples",
                   "\"\" #6 keeps \"ForkJoinPool-1-worker-2\", pinned by native method App.call and a monitor it "
                   "holds (a Cart), at App.call(App.java:8), in all of 3 samples"}));
  EXPECT_EQ(some.next, "jtrace stack 4711 --java --thread v") << "the other one has no name";
}

}  // namespace
}  // namespace jtrace::diagnose
