// From the kernel's records to events: definitions first, pairs, ids; texts in the order of time.
#include "dtrace/probe_events.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "dtrace/flag_switch.h"
#include "dtrace/record_queue.h"
#include "dtrace/traced_sites.h"

namespace jtrace::dtrace {
namespace {

using Values = std::vector<std::uint64_t>;

ProbeSite site_of(const char* name, std::size_t operands) {
  ProbeSite site;
  site.provider = "hotspot";
  site.name = name;
  site.operands.resize(operands);
  return site;
}

class ProbeEventsTest : public testing::Test {
 protected:
  void SetUp() override {
    probes_ = group_probes({site_of("thread__start", 5), site_of("thread__stop", 5), site_of("gc__begin", 1),
                            site_of("gc__end", 0), site_of("mem__pool__gc__end", 8), site_of("method__entry", 7),
                            site_of("method__return", 7), site_of("object__alloc", 4), site_of("class__unloaded", 4),
                            site_of("vmops__begin", 3), site_of("class__loaded", 4)});
    std::vector<const Probe*> all;
    for (const Probe& probe : probes_) all.push_back(&probe);
    sites_ = sites_to_trace(probes_, all);
    auto process = target::Process::open(::getpid());
    ASSERT_TRUE(process);
    process_.emplace(std::move(*process));
    queue_.emplace(sites_);
    events_.emplace(sink_, *process_, sites_, ClockAnchor{});
    queue_->define_text(0x100, 4, "work", false);
    queue_->define_text(0x200, 1, "C", false);
    queue_->define_text(0x300, 1, "m", false);
    queue_->define_text(0x400, 3, "()V", false);
  }
  void add(std::string_view name, std::uint64_t time, const Values& operands) {
    for (std::uint32_t i = 0; i < sites_.size(); ++i)
      if (sites_[i].probe->name == name) queue_->add(i, 77, time, operands);
  }
  void release() {
    ASSERT_TRUE(queue_->release(UINT64_MAX, [this](const ProbeRecord& record) { return events_->write(record); }));
  }

  std::vector<Probe> probes_;
  std::vector<TracedSite> sites_;
  trace::CaptureSink sink_;
  std::optional<target::Process> process_;
  std::optional<RecordQueue> queue_;
  std::optional<ProbeEvents> events_;
  const Values method_{12, 0x200, 1, 0x300, 1, 0x400, 3};
};

TEST_F(ProbeEventsTest, ThreadsHaveJavasIdAndName) {
  add("thread__start", 1, {0x100, 4, 12, 99, 0});
  add("thread__stop", 2, {0x100, 4, 12, 99, 0});
  release();
  const auto starts = sink_.all<trace::ThreadStart>();
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].threadId, trace::ThreadId(12));
  EXPECT_EQ(starts[0].threadName, trace::Text("work"));
  EXPECT_EQ(starts[0].transientThreadId, trace::TransientThreadId(99));
  ASSERT_EQ(sink_.all<trace::ThreadEnd>().size(), 1u);
  EXPECT_EQ(sink_.all<trace::ThreadEnd>()[0].threadIdRef, trace::ThreadId(12));
}

TEST_F(ProbeEventsTest, EarlierThreadsKeepTheirIdAndAreDefinedOnce) {
  const std::vector<EarlierThread> earlier{{77, 5, 12, "old", "main"}, {78, 6, 13, "other", ""}};
  ASSERT_TRUE(events_->add_running_threads(earlier, false, trace::Time(1)));
  EXPECT_TRUE(sink_.all<trace::ThreadStart>().empty()) << "not before an event refers to them";
  add("gc__begin", 1, {0});  // a probe without a thread of its own
  add("method__entry", 2, method_);
  release();
  const auto starts = sink_.all<trace::ThreadStart>();
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].threadId, trace::ThreadId(12));
  EXPECT_EQ(starts[0].transientThreadId, trace::TransientThreadId(5));
  EXPECT_EQ(starts[0].threadName, trace::Text("old"));
  EXPECT_EQ(starts[0].groupName, trace::Text("main"));
  EXPECT_EQ(sink_.all<trace::GcStart>().at(0).threadIdRef, trace::ThreadId(12));
}

TEST_F(ProbeEventsTest, AThreadThatStartsWhileTheThreadsAreListedIsDefinedOnce) {
  ASSERT_TRUE(events_->add_running_threads({{77, 99, 12, "work", "main"}}, true, trace::Time(1)));
  add("thread__start", 1, {0x100, 4, 12, 99, 0});
  add("thread__stop", 2, {0x100, 4, 12, 99, 0});
  add("thread__start", 3, {0x100, 4, 14, 99, 0});  // the kernel reuses the id
  release();
  const auto starts = sink_.all<trace::ThreadStart>();
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].threadId, trace::ThreadId(12));
  EXPECT_EQ(starts[1].threadId, trace::ThreadId(14));
  EXPECT_EQ(sink_.all<trace::ThreadEnd>().size(), 1u);
}

std::string pauses(const trace::CaptureSink& sink) {
  std::string text;
  for (const auto& start : sink.all<trace::GcStart>()) text += std::to_string(start.time.ns()) + " ";
  text += "to";
  for (const auto& finish : sink.all<trace::GcFinish>()) text += " " + std::to_string(finish.time.ns());
  return text;
}

// A collection that makes room for classes has a pair of its own around that of the collector.
TEST_F(ProbeEventsTest, APauseEndsWithItsOutermostPair) {
  add("gc__begin", 10, {1});
  add("gc__begin", 20, {0});
  add("gc__end", 30, {});
  add("gc__begin", 40, {1});
  add("gc__end", 50, {});
  add("gc__end", 60, {});
  add("gc__end", 65, {});  // of one that began before the trace
  add("gc__begin", 70, {0});
  add("gc__end", 80, {});
  release();
  EXPECT_EQ(pauses(sink_), "10 70 to 60 80");
}

// The probes come one after the other: the end of the first one passed before its own was there.
TEST_F(ProbeEventsTest, ABeginBeforeTheTraceDoesNotHideThePausesOfIt) {
  events_.emplace(sink_, *process_, sites_, ClockAnchor{.monotonic = 15, .realtime = 15});
  add("gc__begin", 10, {1});
  add("gc__begin", 20, {0});
  add("gc__end", 30, {});
  add("gc__begin", 40, {1});
  add("gc__end", 50, {});
  release();
  EXPECT_EQ(pauses(sink_), "20 40 to 30 50");
}

TEST_F(ProbeEventsTest, ALostEndOfAPauseDoesNotHideTheLaterOnes) {
  add("gc__begin", 10, {1});
  add("gc__begin", 20, {0});
  release();
  events_->forget_after_loss();  // of both ends, perhaps
  add("gc__begin", 30, {0});
  add("gc__end", 40, {});
  add("gc__begin", 50, {0});
  add("gc__end", 60, {});
  release();
  EXPECT_EQ(pauses(sink_), "10 50 to 40 60");
}

TEST_F(ProbeEventsTest, ClassesHaveTheFactsOfTheVm) {
  EventOptions options;
  options.class_of = [](std::string_view name, std::uint64_t loader) {
    coreinspect::ClassDefinition facts;
    if (name != "C") return std::optional<coreinspect::ClassDefinition>();
    facts.superclass = loader == 0 ? "Before" : "Loaded";
    facts.is_instance = true;
    facts.access = "public";
    return std::optional(facts);
  };
  events_.emplace(sink_, *process_, sites_, ClockAnchor{}, options);
  add("method__entry", 1, method_);
  add("class__loaded", 2, {0x200, 1, 0x7000, 0});
  add("class__loaded", 3, {0x300, 1, 0x7000, 0});
  release();
  const auto classes = sink_.all<trace::ClassDef>();
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_EQ(classes[0].superclass, trace::Text("Before"));
  EXPECT_FALSE(classes[0].threadIdRef.present()) << "its loading thread was not seen";
  EXPECT_EQ(classes[1].superclass, trace::Text("Loaded"));
  EXPECT_EQ(classes[1].threadIdRef, trace::ThreadId(12));
  EXPECT_EQ(classes[2].name, trace::Text("m"));
  EXPECT_FALSE(classes[2].superclass.present());
}

TEST_F(ProbeEventsTest, MethodsAreDefinedOnceAndExitsKnowTheirEntry) {
  for (const std::uint64_t time : {1u, 3u}) add("method__entry", time, method_);
  for (const std::uint64_t time : {4u, 5u, 6u}) add("method__return", time, method_);
  release();
  EXPECT_EQ(sink_.all<trace::ClassDef>().size(), 1u);
  EXPECT_EQ(sink_.all<trace::MethodDef>().size(), 1u);
  const auto entries = sink_.all<trace::MethodEntry>();
  const auto exits = sink_.all<trace::MethodExit>();
  ASSERT_EQ(entries.size(), 2u);
  ASSERT_EQ(exits.size(), 2u);
  EXPECT_EQ(exits[0].ticket, entries[1].ticket);
  EXPECT_EQ(exits[1].ticket, entries[0].ticket);
  EXPECT_EQ(entries[1].stackDepth, trace::Number(2));
  EXPECT_EQ(events_->counts().exits_without_entry, 1u);
}

TEST_F(ProbeEventsTest, APauseHasTheSumsOfItsPools) {
  queue_->define_text(0x500, 1, "A", false);
  queue_->define_text(0x600, 1, "B", false);
  add("gc__end", 1, {});  // it began before the trace
  add("gc__begin", 2, {1});
  add("mem__pool__gc__end", 3, {0x100, 4, 0x500, 1, 0, 10, 100, 0});
  add("mem__pool__gc__end", 4, {0x100, 4, 0x600, 1, 0, 5, 50, 0});
  add("gc__end", 5, {});
  release();
  EXPECT_EQ(sink_.all<trace::GcStart>().size(), 1u);
  const auto ends = sink_.all<trace::GcFinish>();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].usedObjectSpace, trace::Number(15));
  EXPECT_EQ(ends[0].totalObjectSpace, trace::Number(150));
}

TEST_F(ProbeEventsTest, RecordsComeInTheOrderOfTimeWithTheTextsOfTheirMoment) {
  queue_->define_text(0x100, 4, "old!", false);
  add("thread__start", 20, {0x100, 4, 2, 99, 0});
  queue_->define_text(0x100, 4, "new!", false);
  add("thread__start", 10, {0x100, 4, 1, 98, 0});
  release();
  const auto starts = sink_.all<trace::ThreadStart>();
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].threadName, trace::Text("new!"));
  EXPECT_EQ(starts[1].threadName, trace::Text("old!"));
}

TEST_F(ProbeEventsTest, AnUnknownTextIsCountedAndProbesWithoutElementToo) {
  add("object__alloc", 1, {12, 0x999, 5, 16});
  add("vmops__begin", 2, {0x100, 4, 0});
  release();
  EXPECT_EQ(events_->counts().missing_texts, 1u);
  EXPECT_EQ(events_->counts().without_element, 1u);
  EXPECT_EQ(sink_.all<trace::ClassDef>().at(0).name, trace::Text("?"));
}

TEST_F(ProbeEventsTest, CountedMethodsAreDefinedAtTheirFirstHitAndCountedAtTheEnd) {
  for (TracedSite& site : sites_) site.counts_methods = site.probe->name == "method__entry";
  Values first = method_, again = method_;
  first.push_back(0);  // the generation of the symbols
  again.push_back(1);
  add("method__entry", 1, first);
  add("method__entry", 2, again);
  release();
  EXPECT_EQ(sink_.all<trace::MethodEntry>().size(), 0u);
  EXPECT_EQ(sink_.all<trace::MethodDef>().size(), 1u);
  ASSERT_TRUE(events_->write_counts(
      {{{0, 0x200, 0x300, 0x400}, 5}, {{1, 0x200, 0x300, 0x400}, 2}, {{0, 0x999, 0x300, 0x400}, 9}}));
  const auto counts = sink_.all<trace::MethodCount>();
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].count, trace::Number(7));
  EXPECT_EQ(counts[0].methodIdRef, sink_.all<trace::MethodDef>()[0].methodId);
  EXPECT_EQ(events_->counts().unknown_methods, 9u);
}

TEST(TracedSites, CountingMethodsNeedsNoRecordOfTheirReturn) {
  const auto probes = group_probes({site_of("method__entry", 7), site_of("method__return", 7)});
  const auto sites = sites_to_trace(probes, {&probes[0], &probes[1]}, true);
  ASSERT_EQ(sites.size(), 2u);
  EXPECT_TRUE(sites[0].counts_methods && sites[0].records);
  EXPECT_FALSE(sites[1].counts_methods || sites[1].records);
}

TEST(FlagSwitch, ReportsWhatItDoesNotReachAndRefusesWhatHasNoEffect) {
  Libjvm libjvm;
  libjvm.feature = 17;
  EXPECT_TRUE(limits_of_switching(libjvm, {"DTraceMonitorProbes"}).value().empty());
  EXPECT_EQ(limits_of_switching(libjvm, {"DTraceMethodProbes"}).value().size(), 2u);
  libjvm.compiles = false;
  EXPECT_TRUE(limits_of_switching(libjvm, {"DTraceMethodProbes"}));
  libjvm.feature = 25;
  EXPECT_FALSE(limits_of_switching(libjvm, {"DTraceMethodProbes"}));
  EXPECT_TRUE(limits_of_switching(libjvm, {"DTraceAllocProbes"}));
}

TEST(TracedSites, ThreadsAreAlwaysFollowedButNotChosen) {
  const auto probes = group_probes({site_of("thread__start", 5), site_of("gc__begin", 1), site_of("gc__end", 0)});
  const auto sites = sites_to_trace(probes, {&probes[0]});
  ASSERT_EQ(sites.size(), 3u);
  EXPECT_TRUE(sites[0].chosen);
  EXPECT_FALSE(sites[1].chosen);
  EXPECT_FALSE(sites[2].chosen);
}

TEST(TracedSites, AnOperandThatCannotBeReadIsNamedWithItsPlace) {
  ProbeSite site = site_of("gc__begin", 1);
  site.address = 0x1234;
  site.operands = parse_operands("4@%xmm0", target::Isa::kX86_64);
  const auto probes = group_probes({site, site_of("gc__end", 0)});
  const auto lines = unreadable_operands(sites_to_trace(probes, {&probes[0]}));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "operand 0 of hotspot:gc__begin at 0x1234 cannot be read ('4@%xmm0'): it counts as 0");
}

TEST(TracedSites, StacksComeWithChosenProbesButNotWithMethodProbes) {
  const auto probes = group_probes({site_of("gc__begin", 1), site_of("gc__end", 0), site_of("method__entry", 7)});
  for (const TracedSite& site : sites_to_trace(probes, {&probes[0], &probes[2]}, false, true))
    EXPECT_EQ(site.copies_stack, site.probe->name == "gc__begin") << site.probe->name;
}

}  // namespace
}  // namespace jtrace::dtrace
