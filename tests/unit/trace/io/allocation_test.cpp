// What a sampled objAlloc represents, in every view of it; arrays have names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/testlib/must.h"
#include "trace/io/allocation_weight.h"
#include "trace/io/allocations_text.h"
#include "trace/io/converter.h"
#include "trace/io/open_source.h"
#include "trace/io/report.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string head(const std::string& agent, const std::string& name, const std::string& options) {
  return "<node nodeId=\"n\" hostname=\"h\" ipaddress=\"\"/>\n<processCreate processId=\"p\" pid=\"4\" nodeIdRef=\"n\" "
         "time=\"1.0\" name=\"app\"/>\n<agentCreate agentId=\"" +
         agent + "\" processIdRef=\"p\" agentName=\"" + name + "\" time=\"1.0\"/>\n<traceStart traceId=\"t" + agent +
         "\" agentIdRef=\"" + agent + "\" time=\"1.0\"/>\n" + options +
         "<threadStart threadId=\"7\" time=\"1.0\" threadName=\"main\"/>\n"
         "<classDef name=\"x/A\" classId=\"1\"/>\n<classDef name=\"[B\" classId=\"2\"/>\n";
}
std::string option(const std::string& key, const std::string& value) {
  return "<option key=\"" + key + "\" value=\"" + value + "\"/>\n";
}
std::string alloc(int id, const std::string& rest) {
  return "<objAlloc threadIdRef=\"7\" time=\"2.0\" objId=\"" + std::to_string(id) + "\" " + rest + "/>\n";
}
const std::string kSampled = option("events", "gcStart,objAlloc,objFree") + option("sample-interval", "524288");
const std::string kAll = option("events", "objAlloc,objFree") + option("sample-interval", "0");
const std::string kExact = option("events", "objFree,allocations") + option("sample-interval", "524288");
const std::string kObjects =
    alloc(1, "isArray=\"0\" size=\"32\" classIdRef=\"1\" contextData=\"x/A.run:5;x/A.main:1\"") +
    alloc(2, "isArray=\"8\" size=\"524288\"") + alloc(3, "isArray=\"2\" size=\"64\" classIdRef=\"1\"") +
    alloc(4, "isArray=\"2\" size=\"64\" classIdRef=\"2\"");

void feed(const std::string& events, EventSink& sink) {
  FaultLog faults;
  auto source = make_event_source(std::move(*memory_byte_source("<TRACE>" + events + "</TRACE>")), "in", faults);
  test::must((*source)->read(sink));
  ASSERT_TRUE(sink.finish());
  EXPECT_EQ(faults.total(), 0u);
}
const ScopeStatistics& of(const Statistics& statistics) { return *statistics.chosen("p", Family::kAllocations); }

TEST(Allocations, ASampleRepresentsTheBytesBetweenSamples) {
  Statistics statistics;
  feed(head("a", "jtrace", kSampled) + kObjects, statistics);
  const auto& rows = of(statistics).allocations;
  EXPECT_NEAR(rows.at("x.A").bytes, 524288 + 16, 1);
  EXPECT_NEAR(rows.at("x.A").objects, 16384.5, 0.1);
  // An object as large as the interval: a fraction of 1 - 1/e is sampled.
  EXPECT_NEAR(rows.at("byte[]").bytes, 524288 / 0.6321206, 2);
  EXPECT_EQ(rows.at("x.A[]").elements, 1u);
  EXPECT_EQ(rows.count("byte[][]"), 1u);
  EXPECT_EQ(rows.count("?"), 0u);
  const std::string text = statistics_text(statistics, 20);
  EXPECT_THAT(text, AllOf(HasSubstr("estimated from 4 samples, one each 524288 bytes on average"),
                          HasSubstr("ALLOCATED est."), HasSubstr("x.A.run:5 x.A")));
  EXPECT_THAT(statistics_json(statistics, "in", 20), HasSubstr("\"kind\":\"estimated\""));
}

TEST(Allocations, AreSummedUpByEachPlace) {
  AllocationPlaces places;
  places.add("byte[]", "a/B.f:1;a/B.g:2", 7, {.objects = 1, .bytes = 10});
  places.add("byte[]", "a/B.f:1;a/B.h:3", 7, {.objects = 2, .bytes = 20});
  places.add("byte[]", "a/B.f:1;a/B.h:3", 8, {.objects = 3, .bytes = 30});
  places.add("a.B", "", 8, {.objects = 1, .bytes = 100});
  EXPECT_EQ(places.rows(AllocationsBy::kClass, "").at(0).type, "a.B");
  EXPECT_EQ(places.total("byte[]").bytes, 60);
  EXPECT_EQ(places.total("byte").elements, 0u);  // no part of a name
  EXPECT_EQ(places.total("B").bytes, 100);       // a short name
  EXPECT_EQ(places.total("f").elements, 0u);     // a method is no class
  EXPECT_EQ(places.total("a.*").bytes, 100);
  const auto sites = places.rows(AllocationsBy::kSite, "byte*");
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].stack, "a/B.f:1");
  EXPECT_EQ(sites[0].amount.objects, 6);
  const auto stacks = places.rows(AllocationsBy::kStack, "");
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[0].amount.bytes, 50);
  const auto threads = places.rows(AllocationsBy::kThread, "byte[]");
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].thread + threads[1].thread, 15u);
  EXPECT_EQ(threads[0].amount.bytes, 30);
}

// The calls of a thread that ran before the trace have no callouts, and the JVM samples it only later.
TEST(Allocations, OfAThreadThatRanBeforeTheTraceAreNotNone) {
  const std::string ran =
      "<threadStart threadId=\"8\" time=\"1.0\" threadName=\"idle\"/>\n" + option("jtrace.threadState", "8 runnable") +
      option("jtrace.threadState", "7 runnable") +
      "<threadStart threadId=\"9\" time=\"1.5\" threadName=\"new\"/>\n<threadEnd threadIdRef=\"9\" time=\"3.0\"/>\n";
  Statistics statistics;
  feed(head("a", "jtrace", kExact) + ran + kObjects, statistics);
  const std::string text = statistics_text(statistics, 20);
  EXPECT_THAT(text, ContainsRegex(" 524448  main\n"));
  EXPECT_THAT(text, ContainsRegex(" 0  new\n"));
  EXPECT_THAT(text, ContainsRegex(" -  idle\n"));
  EXPECT_THAT(text, HasSubstr("ALLOCATED -: the thread ran before the trace"));
}

// HotSpot before 25 takes too many samples of what is allocated beside large objects.
TEST(Allocations, SayThatTheJdkOverstatesThemWhereItDoes) {
  const auto note = [](const std::string& jdk, const std::string& objects) {
    Statistics statistics;
    feed(head("a", "jtrace", kSampled + option("jtrace.jdk", jdk)) + objects, statistics);
    return allocations_text(statistics, {});
  };
  EXPECT_THAT(note("17", kObjects), HasSubstr("JDK 17 takes too many samples of a thread that makes large arrays"));
  EXPECT_THAT(note("25", kObjects), Not(HasSubstr("too many samples")));
  EXPECT_THAT(note("17", alloc(1, "isArray=\"0\" size=\"32\" classIdRef=\"1\"")), Not(HasSubstr("too many samples")));
}

TEST(Allocations, NameTheClassesThatAreMeant) {
  Statistics statistics;
  feed(head("a", "jtrace", kAll) + kObjects, statistics);
  EXPECT_THAT(allocations_text(statistics, {.type = "A", .by = AllocationsBy::kClass}),
              AllOf(HasSubstr("32 bytes in 1 object of x.A;"), Not(HasSubstr("x.A[]"))));
  EXPECT_THAT(allocations_text(statistics, {.type = "byte*", .by = {}}), HasSubstr("of 2 classes (byte[], byte[][]);"));
  EXPECT_THAT(allocations_text(statistics, {.type = "byte", .by = {}}),
              HasSubstr("no allocations of byte in the trace, of 4 recorded; did you mean byte[]?"));
  EXPECT_THAT(allocations_text(statistics, {.type = "y.A", .by = {}}), HasSubstr("did you mean x.A?"));
}

TEST(Allocations, WithoutSamplesSayWhatToType) {
  Statistics statistics;
  feed(head("a", "jtrace", kSampled) + kObjects, statistics);
  const auto text = [&](const std::string& type) { return allocations_text(statistics, {.type = type, .by = {}}); };
  EXPECT_THAT(text("shop.session.Device"),
              AllOf(HasSubstr("no allocations of shop.session.Device"),
                    HasSubstr("next: jtrace allocations PID --filter 'shop.session.*' records each object"),
                    HasSubstr("--sample-interval ")));
  EXPECT_THAT(text("java.util.Random"), HasSubstr("--filter 'com.example.*'"));
  EXPECT_THAT(text("shop.s*"), HasSubstr("--filter 'shop.*'"));
}

// The JDK makes arrays for the program: which of its methods, and who called that.
TEST(Allocations, AreSummedUpByTheMethodsOfTheProgram) {
  const auto array = [](int id, const std::string& stack) {
    return alloc(id, "isArray=\"8\" size=\"1000\" contextData=\"" + stack + "\"");
  };
  const std::string framed = "java/util/Arrays.copyOf:9;java/io/Out.grow:3;x/Framer.frame:31;";
  Statistics all, own;
  feed(head("a", "jtrace", kAll) + array(1, framed + "x/Smtp.send:20;x/Main.main:1") +
           array(2, framed + "x/Smtp.send:20;x/Other.main:1") + array(3, framed + "x/Feed.push:8") +
           array(4, "java/util/Arrays.copyOf:9;java/lang/Thread.run:1"),
       all);
  const std::string text = allocations_text(all, {.type = "byte[]"});
  EXPECT_THAT(text, ContainsRegex("2000 +50.0% +2  x.Framer.frame:31 byte\\[\\], called in x.Smtp.send:20\n"));
  EXPECT_THAT(text, ContainsRegex("1000 +25.0% +1  x.Framer.frame:31 byte\\[\\], called in x.Feed.push:8\n"));
  EXPECT_THAT(text, ContainsRegex("1000 +25.0% +1  .no method of the program in what was recorded"));
  EXPECT_THAT(allocations_json(all, "x", {.by = AllocationsBy::kMethod}),
              HasSubstr(R"("class":"byte[]","method":"x.Framer.frame:31","calledIn":"x.Smtp.send:20","bytes":2000)"));
  feed(head("a", "jtrace", kAll) + kObjects, own);
  EXPECT_THAT(allocations_text(own, {}), Not(HasSubstr("METHOD"))) << "each is a site";
}

// Filters select the classes of sampled objects: of "t.*" there are no byte[], whoever makes them.
TEST(Allocations, SayThatFiltersLeaveObjectsOut) {
  const std::string filters =
      "<filter pattern=\"x.*\" mode=\"include\" genericPattern=\"suffix\"/>\n"
      "<filter pattern=\"*\" mode=\"exclude\" genericPattern=\"suffix\"/>\n";
  Statistics none, some, callouts;
  feed(head("a", "jtrace", kSampled + filters), none);
  EXPECT_THAT(allocations_text(none, {}), AllOf(HasSubstr("select the classes of the objects"), HasSubstr("byte[]"),
                                                HasSubstr("who allocated less may have none")));
  feed(head("a", "jtrace", kSampled + filters) + kObjects, some);
  EXPECT_THAT(allocations_text(some, {}), HasSubstr("only objects of the classes that the trace's filters include"));
  EXPECT_THAT(allocations_text(some, {.type = "y.Z"}), HasSubstr("select the classes of the objects"));
  Statistics all, of_methods;
  feed(head("a", "jtrace", kAll + filters) + kObjects, all);
  EXPECT_THAT(allocations_text(all, {}),
              AllOf(HasSubstr("exact: each object"), HasSubstr("only objects of the classes")));
  feed(head("a", "jtrace",
            kSampled + "<filter pattern=\"*\" mode=\"exclude\" genericPattern=\"suffix\" methodPattern=\"run\" "
                       "methodGenericPattern=\"none\"/>\n") +
           kObjects,
       of_methods);
  EXPECT_THAT(allocations_text(of_methods, {}), Not(HasSubstr("filters")));
  feed(head("a", "jtrace", kExact + filters) + kObjects, callouts);
  EXPECT_THAT(allocations_text(callouts, {}), Not(HasSubstr("filters")));
}

TEST(Allocations, CompleteRecordsStayExact) {
  for (const std::string& options : {kAll, kExact}) {
    Statistics statistics;
    feed(head("a", "jtrace", options) + kObjects, statistics);
    EXPECT_EQ(of(statistics).allocations.at("x.A").bytes, 32);
    EXPECT_EQ(of(statistics).allocations.at("byte[]").objects, 1);
    EXPECT_THAT(statistics_text(statistics, 20), Not(HasSubstr("estimated")));
  }
  Statistics probes;
  feed(head("a", "jtrace probe", "") + kObjects, probes);
  EXPECT_EQ(of(probes).allocation_kind, AllocationKind::kExact);
}

// The agent knows the site of an allocation by its callout; those before it have none.
TEST(Allocations, WithoutASiteAreARowOfTheirOwn) {
  Statistics statistics;
  feed(head("a", "jtrace", kExact) + kObjects, statistics);
  ASSERT_TRUE(of(statistics).places.has_stacks());
  const std::string text = allocations_text(statistics, {.by = AllocationsBy::kSite});
  EXPECT_THAT(text, HasSubstr("(recorded without a site)"));
  EXPECT_THAT(allocations_text(statistics, {.by = AllocationsBy::kThread}), Not(HasSubstr("without a site")));
}

TEST(Allocations, WithoutAnIntervalNothingIsEstimated) {
  Statistics statistics;
  feed(head("a", "jtrace", "") + kObjects, statistics);
  EXPECT_EQ(of(statistics).allocations.at("x.A").bytes, 32);
  EXPECT_THAT(statistics_text(statistics, 20), HasSubstr("the trace does not say whether these are samples"));
}

std::string collapsed(const std::string& events, std::string* note = nullptr) {
  MemorySink bytes;
  auto writer = make_collapsed_writer(bytes, Weight::kAllocation);
  feed(events, *writer);
  if (note != nullptr && !writer->notes().empty()) *note = writer->notes().front();
  return bytes.text();
}

TEST(Allocations, AreNotExactWhereTheJvmDoesNotReportAll) {
  const std::string why = "threads that run already are sampled only later";
  const std::string events = head("a", "jtrace", kAll + option("jtrace.unavailable", "objAlloc: " + why)) + kObjects;
  Statistics statistics;
  feed(events, statistics);
  EXPECT_TRUE(recorded_of(of(statistics)).allocations) << "some are missing, and some are there";
  EXPECT_EQ(of(statistics).allocation_kind, AllocationKind::kPartial);
  EXPECT_EQ(of(statistics).allocations.at("x.A").bytes, 32);
  EXPECT_THAT(statistics_text(statistics, 20), HasSubstr("not complete; " + why));
  EXPECT_THAT(statistics_json(statistics, "in", 20), HasSubstr("\"kind\":\"partial\""));
  EXPECT_THAT(allocations_text(statistics, {}), AllOf(HasSubstr("not complete; " + why), Not(HasSubstr("exact"))));
  std::string note;
  collapsed(events, &note);
  EXPECT_THAT(note, HasSubstr("not complete; " + why));
}

TEST(Allocations, AnEmptyFlameGraphSaysWhy) {
  std::string note;
  EXPECT_EQ(collapsed(head("a", "jtrace", kSampled), &note), "");
  EXPECT_EQ(note, "no line was written: the trace has no allocations (attach with --events objects, or allocations)");
  collapsed(head("a", "jtrace",
                 option("jtrace.unavailable", "objAlloc: can_generate_sampled_object_alloc_events: JDK 8") +
                     option("jtrace.dropped", "1")),
            &note);
  EXPECT_EQ(note,
            "no line was written: the trace has no allocations; not in it: objAlloc: "
            "can_generate_sampled_object_alloc_events: JDK 8; 1 event was lost");
  collapsed(head("a", "jtrace", kAll) + alloc(1, "classIdRef=\"1\" size=\"0\""), &note);
  EXPECT_EQ(note, "no line was written: the allocations of the trace have no size");
}

TEST(Allocations, FlameGraphsWeighThem) {
  std::string note;
  const std::string text = collapsed(head("a", "jtrace", kSampled) + kObjects, &note);
  EXPECT_THAT(text, AllOf(HasSubstr("main;x.A.main;x.A.run;x.A 524304\n"), HasSubstr("main;byte[] 829411\n")));
  EXPECT_THAT(note, HasSubstr("estimated from 4 samples"));
  const auto report = make_report_collector();
  feed(head("a", "jtrace", kSampled) + kObjects, *report);
  EXPECT_THAT(report_json(*report, {.title = "x"}, 1),
              AllOf(HasSubstr("estimated from 4 samples"), HasSubstr("[\"x.A\",16385,524304]"), HasSubstr("byte[]")));
}

TEST(Allocations, TwoProducersOfOneProcessDoNotAddUp) {
  const std::string both = head("a", "jtrace", kSampled) + kObjects + kObjects + head("b", "jtrace", kExact) + kObjects;
  EXPECT_EQ(collapsed(both), collapsed(head("b", "jtrace", kExact) + kObjects));
  Statistics statistics;
  feed(both, statistics);
  EXPECT_EQ(of(statistics).allocations.at("x.A").bytes, 32);
}

}  // namespace
}  // namespace jtrace::trace::io
