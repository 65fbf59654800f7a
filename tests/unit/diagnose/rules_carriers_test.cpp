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
              AllOf(HasSubstr("carrier is kept"), HasSubstr("1 other is ready")));
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
  EXPECT_THAT(found[0].evidence,
              ElementsAre(HasSubstr("at App.wait(App.java:3)"),
                          "\"s\" #6 was on \"ForkJoinPool-1-worker-2\", which was always busy, at each look",
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
  EXPECT_EQ(all.next, "jtrace stack 4711 --java --group");
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

// Three carriers: one is kept, one runs a virtual thread all the time, one is idle; another virtual thread is ready.
Facts short_of_carriers(int parallelism = 3) {
  auto threads = pinned_threads();
  threads[0].parallelism = parallelism;
  threads[0].waits = 7;
  threads[2].virtual_state = "UNPARKED";
  threads.push_back({.key = 4, .name = "ForkJoinPool-1-worker-2", .ran_ns = 0});
  threads.push_back({.key = 5, .name = "ForkJoinPool-1-worker-3"});
  threads.push_back({.key = 6, .name = "s", .is_virtual = true, .carrier = "ForkJoinPool-1-worker-2"});
  threads.push_back({.key = 7, .name = "idle", .state = "WAITING", .waits = 7});
  Facts facts = pinned_looks(threads);
  for (ThreadsLook& look : facts.looks) look.threads[3].ran_ns = look.threads[3].measured_ns = look.ns;
  return facts;
}
Confidence confidence_of(const Facts& facts) { return found_by(find_pinned_carriers, facts).at(0).confidence; }

TEST(PinnedRule, IsFoundIfAThirdOfTheCarriersIsLeft) {
  Facts facts = short_of_carriers();
  const Finding found = found_by(find_pinned_carriers, facts).at(0);
  EXPECT_EQ(found.confidence, Confidence::kLikely);
  EXPECT_EQ(found.sentence,
            "Only 1 of 3 carriers is left for 1 other virtual thread: \"v\" waits and keeps one, and \"s\" was on "
            "another at each look, which was always busy.");
  EXPECT_THAT(found.evidence, ::testing::Contains("1 carrier is left for all others"));
  EXPECT_EQ(confidence_of(short_of_carriers(4)), Confidence::kHint) << "the pool may start a fourth one";
  EXPECT_THAT(found_by(find_pinned_carriers, short_of_carriers(4)).at(0).sentence, HasSubstr("1 of 4 carriers"));
  EXPECT_EQ(confidence_of(short_of_carriers(1)), Confidence::kLikely) << "there are three";
}

TEST(PinnedRule, IsAHintOfWhatHealthyProgramsDoToo) {
  Facts alone = short_of_carriers();
  for (ThreadsLook& look : alone.looks) look.threads.erase(look.threads.begin() + 2);
  for (ThreadsLook& look : alone.looks) look.threads[2].ran_ns = look.ns;
  EXPECT_EQ(confidence_of(alone), Confidence::kHint) << "nobody else needs a carrier";
  Facts idle = short_of_carriers();
  for (std::size_t i = 0; i < 2; ++i) idle.looks[i].threads[2].virtual_state = "PARKED";
  EXPECT_EQ(confidence_of(idle), Confidence::kHint) << "one was ready at a look: chance";
  Facts waked = short_of_carriers();
  waked.looks.back().threads[0].waits = 16;
  EXPECT_EQ(confidence_of(waked), Confidence::kHint) << "it waits again and again";
  Facts in_kernel = short_of_carriers();
  for (ThreadsLook& look : in_kernel.looks) look.threads[1].virtual_state = "RUNNING";
  EXPECT_EQ(confidence_of(in_kernel), Confidence::kHint) << "the JDK may have started another carrier for it";
  Facts brief = short_of_carriers();
  for (std::size_t i = 0; i < 3; ++i) brief.looks[i].ns = i * kSecond / 4;
  EXPECT_EQ(confidence_of(brief), Confidence::kHint);
  Facts without_processor = short_of_carriers();
  for (ThreadsLook& look : without_processor.looks) {
    look.threads[3].ran_ns = look.ns / 10;
    look.threads[3].queued_ns = look.ns * 9 / 10;
  }
  EXPECT_EQ(confidence_of(without_processor), Confidence::kHint);
}

// One carrier, which runs a virtual thread for `ran` of the time, and a virtual thread in this state.
Facts one_busy_carrier(const char* state, double ran = 0.9) {
  Facts facts = three_looks({{.key = 1, .name = "ForkJoinPool-1-worker-1", .parallelism = 1},
                             {.key = 2, .name = "s", .is_virtual = true, .carrier = "ForkJoinPool-1-worker-1"},
                             {.key = 3, .name = "w", .is_virtual = true, .virtual_state = state}});
  for (ThreadsLook& look : facts.looks) {
    ThreadFact& carrier = look.threads[0];
    carrier.measured_ns = look.ns;
    carrier.ran_ns = static_cast<std::uint64_t>(ran * static_cast<double>(look.ns));
    carrier.queued_ns = look.ns - *carrier.ran_ns;
    look.threads[1].frames = {{"App.turn", "App.java:3", static_cast<int>(look.ns / kSecond)}};
  }
  return facts;
}

TEST(PinnedRule, FindsVirtualThreadsThatComputeWhileOthersAreReady) {
  const auto found = found_by(find_pinned_carriers, one_busy_carrier("UNPARKED"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].confidence, Confidence::kHint) << "they may take turns between two looks";
  EXPECT_EQ(found[0].sentence,
            "Virtual threads may wait long: each of 1 carrier is always busy, with the same virtual thread at each "
            "look, and 1 other was ready each time.");
  EXPECT_THAT(found[0].evidence.front(), HasSubstr("\"s\" #2 runs on \"ForkJoinPool-1-worker-1\", at App.turn("));
  EXPECT_THAT(found_by(find_pinned_carriers, one_busy_carrier("STARTED")), IsEmpty()) << "a batch";
  EXPECT_THAT(found_by(find_pinned_carriers, one_busy_carrier("PARKED")), IsEmpty());
  EXPECT_THAT(found_by(find_pinned_carriers, one_busy_carrier("UNPARKED", 0.2)), IsEmpty()) << "no processor";
  Facts went_on = one_busy_carrier("UNPARKED");
  went_on.looks[1].threads[2].frames = {{"App.other", "App.java:9", 4}};
  EXPECT_THAT(found_by(find_pinned_carriers, went_on), IsEmpty());
  Facts more = one_busy_carrier("UNPARKED");
  for (ThreadsLook& look : more.looks) look.threads[0].parallelism = 2;
  EXPECT_THAT(found_by(find_pinned_carriers, more), IsEmpty());
}

}  // namespace
}  // namespace jtrace::diagnose
