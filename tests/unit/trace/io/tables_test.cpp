// What the tables of a trace leave out, they say: rows, producers, starts of pauses, lost events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "trace/io/allocations_text.h"
#include "trace/io/exceptions_text.h"
#include "trace/io/slow_text.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kThings = 7;  // of each kind

// One process with a producer "jtrace" that has seven of each kind of row.
class Tables : public ::testing::Test {
 protected:
  Tables() {
    producer("a", "jtrace");
    for (std::uint64_t id = 1; id <= kThings; ++id) {
      const std::string name = "thing" + std::to_string(id);
      write(ThreadStart{.threadId = ThreadId(id), .time = at(id), .threadName = name});
      write(ClassDef{.classId = ClassId(id), .name = name});
      write(MethodDef{.name = name, .classIdRef = ClassId(id), .methodId = MethodId(id)});
      ObjAlloc alloc;
      alloc.threadIdRef = ThreadId(id);
      alloc.time = at(id);
      alloc.objId = ObjectId(100 + id);
      alloc.size = 16;
      alloc.isArray = 0;
      alloc.classIdRef = ClassId(id);
      const std::string site = "x/A.run:" + std::to_string(id);
      alloc.contextData = site;
      write(alloc);
      write(MethodEntry{.threadIdRef = ThreadId(id), .time = at(id), .methodIdRef = MethodId(id)});
      write(MethodExit{.threadIdRef = ThreadId(id), .time = at(id + 10), .methodIdRef = MethodId(id)});
      write(MonContendedEnter{.threadIdRef = ThreadId(id),
                              .time = at(20),
                              .objIdRef = ObjectId(100 + id),
                              .threadOwner = ThreadId(id % kThings + 1)});
      write(MonContendedEntered{.threadIdRef = ThreadId(id), .time = at(21), .objIdRef = ObjectId(100 + id)});
      write(GcStart{.threadIdRef = ThreadId(1), .time = at(30 + 2 * id)});
      write(GcFinish{.threadIdRef = ThreadId(1), .time = at(31 + 2 * id)});
    }
  }
  static Time at(std::uint64_t ms) { return Time(1'000'000'000 + ms * 1'000'000); }
  void write(const Event& event) { EXPECT_TRUE(statistics_.write(event)); }
  void producer(const char* agent, const char* name) {
    write(AgentCreate{.agentId = agent, .processIdRef = "p", .agentName = name, .time = at(0)});
    write(TraceStart{.traceId = agent, .agentIdRef = agent, .time = at(0)});
  }
  void lose(const char* events) { write(Option{.key = "jtrace.dropped", .value = events}); }
  std::string text(std::size_t rows) {
    EXPECT_TRUE(statistics_.finish());
    return statistics_text(statistics_, rows);
  }
  json data(std::size_t rows) {
    EXPECT_TRUE(statistics_.finish());
    return json::parse(statistics_json(statistics_, "in", rows))["data"][0];
  }
  static std::size_t occurrences(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++count;
    return count;
  }

  Statistics statistics_;
};

TEST_F(Tables, SayHowManyRowsTheyLeaveOut) {
  // Pauses, threads, classes, pairs and owners of contention, methods, calls' times, classes and sites of allocations.
  EXPECT_EQ(occurrences(text(5), "  2 more rows: --rows\n"), 9u) << text(5);
  EXPECT_THAT(text(kThings), Not(HasSubstr("more row")));
  const json cut = data(5), all = data(kThings);
  EXPECT_EQ(cut["gc"]["pausesLeftOut"], 2);
  EXPECT_FALSE(all["gc"].contains("pausesLeftOut"));
  for (const char* table : {"threads", "contention", "waitedFor", "methods", "slowMethods", "allocations", "sites"}) {
    EXPECT_EQ(cut[table].size(), 5u) << table;
    EXPECT_EQ(cut[table + std::string("LeftOut")], 2) << table;
    EXPECT_FALSE(all.contains(table + std::string("LeftOut"))) << table;
  }
  AllocationsView view;
  view.rows = 5;
  EXPECT_EQ(json::parse(allocations_json(statistics_, "in", view))["data"][0]["byClassLeftOut"], 2);
  const SlowLimits limits{.over = 1'000'000, .rows = 5};
  EXPECT_EQ(occurrences(slow_text(statistics_, limits), "  2 more rows: --rows\n"), 2u);
}

TEST_F(Tables, ListPausesWithCauseAndSumsOfThem) {
  producer("s", "jtrace other");
  write(Option{.key = "hsperf.gc.missed", .value = "3"});
  for (std::uint64_t i = 0; i < 20; ++i) {
    write(GcStart{.time = at(100 + 10 * i)});
    write(GcFinish{.time = at(102 + 10 * i + i),
                   .usedObjectSpace = Number(1u << 20),
                   .cause = i == 5 ? Text() : Text("G1 Evacuation Pause"),
                   .kind = "young",
                   .usedObjectSpaceBefore = Number(5u << 20)});
  }
  const std::string shown = text(1);
  EXPECT_THAT(shown, HasSubstr("3 more that were not seen"));
  EXPECT_THAT(shown, HasSubstr("        19     0.223000     0.021000          -  young        G1 Evacuation Pause\n"));
  EXPECT_THAT(shown, HasSubstr("         1     0.007000     0.007000          -  young        ?\n"));
  EXPECT_THAT(shown, HasSubstr("   0.021000    5.0 MiB -> 1.0 MiB              ?  young        G1 Evacuation Pause\n"));
  EXPECT_THAT(shown, Not(HasSubstr("who calls System.gc()")));
  const json gc = data(1)["gc"];
  EXPECT_EQ(gc["missed"], 3);
  EXPECT_EQ(gc["pauses"][0]["cause"], "G1 Evacuation Pause");
  EXPECT_EQ(gc["pauses"][0]["usedBefore"], 5u << 20);
  EXPECT_EQ(gc["causes"][0]["times"], 19);
  EXPECT_FALSE(gc["causes"][1].contains("cause"));
}

TEST_F(Tables, SayWhichCommandShowsWhoAskedForPauses) {
  producer("s", "jtrace other");
  for (std::uint64_t i = 0; i < 20; ++i) {
    write(GcStart{.time = at(100 + 10 * i)});
    write(GcFinish{.time = at(102 + 10 * i), .cause = "System.gc()", .kind = "full"});
  }
  EXPECT_THAT(text(1), HasSubstr("who calls System.gc(): jtrace slow PID --over 20ms"));
}

TEST_F(Tables, ListCollectionsOfMoreThanOnePause) {
  producer("s", "jtrace other");
  for (std::uint64_t i = 0; i < 20; ++i) write(GcFinish{.time = at(100 + i)});
  write(Option{.key = "jtrace.collection",
               .value =
                   "from=1.100000000,to=1.350000000,pauses=3,before=5242880,after=1048576,total=8388608,kind=minor,"
                   "cause=Allocation Rate"});
  write(Option{.key = "jtrace.collection", .value = "to=1.050000000,pauses=1"});
  write(Option{.key = "jtrace.collection", .value = "nonsense"});
  const std::string shown = text(20);
  EXPECT_THAT(shown, HasSubstr("  00:00:01.100   0.250000    5.0 MiB -> 1.0 MiB        8.0 MiB       3  minor        "
                               "Allocation Rate\n"));
  EXPECT_THAT(shown,
              HasSubstr("  00:00:01.050          -          ? -> ?                    ?       1  ?            ?\n"));
  EXPECT_THAT(text(1), HasSubstr("  1 more row: --rows\n"));
  const json gc = data(20)["gc"];
  ASSERT_EQ(gc["collections"].size(), 2u);
  EXPECT_EQ(gc["collections"][0]["usedAfter"], 1u << 20);
  EXPECT_FALSE(gc["collections"][1].contains("usedAfter"));
  EXPECT_FALSE(gc["collections"][1].contains("start"));
}

// The head of a trace says what was recorded: what was not is no 0.
TEST_F(Tables, DoNotCallZeroWhatWasNotRecorded) {
  write(Option{.key = "events", .value = "threadStart,threadEnd,monContendedEnter,monContendedEntered,methodCount"});
  const std::string shown = text(1);
  EXPECT_THAT(shown, HasSubstr("     0.001000            -            -              -  thing1\n"));
  EXPECT_THAT(shown, HasSubstr("  -: not recorded (--events monitors, sleeps, objects or allocations)\n"));
  EXPECT_THAT(shown, HasSubstr("           -            -            -            -  thing1.thing1\n"));
  const json thread = data(1)["threads"][0], method = data(1)["methods"][0];
  EXPECT_EQ(thread["blocked"], 0.001);
  for (const char* key : {"waiting", "sleeping", "bytes", "allocations"}) EXPECT_FALSE(thread.contains(key)) << key;
  for (const char* key : {"calls", "self", "total"}) EXPECT_FALSE(method.contains(key)) << key;
  const json call = data(1)["slowCalls"][0];
  EXPECT_TRUE(call.contains("blocked"));
  EXPECT_FALSE(call.contains("sleeping"));
  EXPECT_FALSE(call.contains("paused"));
}

TEST_F(Tables, CallZeroWhatWasRecordedAndDidNotHappen) {
  write(Option{.key = "events", .value = "threads,monitors,sleeps,objAlloc,gcStart,gcFinish"});
  EXPECT_THAT(text(1), HasSubstr("     0.001000     0.000000     0.000000             16  thing1\n"));
  EXPECT_THAT(text(1), Not(HasSubstr("-: not recorded")));
}

TEST_F(Tables, OfASnapshotsStacksSayItToo) {
  producer("s", "jtrace stack");
  write(Option{.key = "jtrace.kind", .value = "snapshot"});
  for (std::uint64_t id = 1; id <= kThings; ++id)
    write(ThreadStart{.threadId = ThreadId(id), .time = at(1), .threadName = "t"});
  const json cut = data(5);
  EXPECT_EQ(cut["stacks"].size(), 5u);
  EXPECT_EQ(cut["stacksLeftOut"], 2);
  EXPECT_EQ(occurrences(text(5), "  2 more rows: --rows\n"), 10u);
}

TEST_F(Tables, CountTheFramesOfADeepStack) {
  producer("s", "jtrace stack");
  write(Option{.key = "jtrace.kind", .value = "snapshot"});
  write(ThreadStart{.threadId = ThreadId(1), .time = at(1), .threadName = "deep"});
  for (int i = 0; i < 3000; ++i)
    write(MethodEntry{.threadIdRef = ThreadId(1), .time = at(1), .methodIdRef = MethodId(1)});
  EXPECT_THAT(text(20), HasSubstr("      3000 running    deep\n"));
  const json thread = data(20)["stacks"][0];
  EXPECT_EQ(thread["frames"].size() + thread["framesLeftOut"].get<std::size_t>(), 3000u);
}

TEST_F(Tables, NameTheProducersThatAreNotAdded) {
  producer("b", "jtrace probe");
  write(ThreadStart{.threadId = ThreadId(1), .time = at(40), .threadName = "main"});
  write(MethodDef{.name = "run", .methodId = MethodId(1)});
  write(MethodEntry{.threadIdRef = ThreadId(1), .time = at(41), .methodIdRef = MethodId(1)});
  EXPECT_THAT(text(20), AllOf(HasSubstr("\ncalls (by jtrace; not added: what is recorded by jtrace probe)\n"),
                              HasSubstr("\ngc (by jtrace)\n")));
  const json others = data(20)["notAdded"];
  ASSERT_EQ(others.size(), 2u) << others;
  EXPECT_EQ(others[1], json({{"family", "calls"}, {"by", "jtrace probe"}}));
}

TEST_F(Tables, SayOfWhichPausesTheStartIsMissing) {
  EXPECT_THAT(text(20), Not(HasSubstr("no start")));
  Statistics late;
  for (const Event& event :
       {Event(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = at(0)}),
        Event(TraceStart{.traceId = "a", .agentIdRef = "a", .time = at(0)}), Event(GcFinish{.time = at(1)}),
        Event(GcStart{.time = at(2)}), Event(GcFinish{.time = at(3)})})
    EXPECT_TRUE(late.write(event));
  EXPECT_TRUE(late.finish());
  EXPECT_THAT(statistics_text(late, 20), HasSubstr("  1 of them have no start in the trace, and count as 0 s\n"));
  EXPECT_EQ(json::parse(statistics_json(late, "in", 20))["data"][0]["gc"]["withoutStart"], 1);
}

TEST_F(Tables, OfSomeKindsSayThatEventsWereLost) {
  const std::string said = "17 events were lost while tracing: there were more\n";
  const SlowLimits limits{.over = 1'000'000};
  EXPECT_THAT(slow_text(statistics_, limits), Not(HasSubstr(said)));
  lose("17");
  EXPECT_THAT(text(20), HasSubstr("lost: 17 events"));
  EXPECT_THAT(slow_text(statistics_, limits), HasSubstr(said));
  EXPECT_THAT(exceptions_text(statistics_, 20), HasSubstr(said));
  EXPECT_THAT(allocations_text(statistics_, {}), HasSubstr(said));
}

TEST_F(Tables, AreNotCompleteIfTheInputIsNot) {
  EXPECT_EQ(json::parse(statistics_json(statistics_, "in", 20))["complete"], true);
  statistics_.note_missing("the input is cut off after 9 elements");
  const json cut = json::parse(statistics_json(statistics_, "in", 20));
  EXPECT_EQ(cut["complete"], false);
  EXPECT_EQ(cut["missing"], json::array({"the input is cut off after 9 elements"}));
}

TEST_F(Tables, AreOfTheJvmThatWasTracedForThem) {
  const auto target = [&] { return json::parse(statistics_json(statistics_, "in", 20))["target"]; };
  EXPECT_EQ(target(), json({{"kind", "trace"}, {"path", "in"}}));
  statistics_.set_traced_jvm({.pid = 17, .nspid = 1});
  EXPECT_EQ(target(), json({{"kind", "process"}, {"pid", 17}, {"nspid", 1}}));
  statistics_.set_traced_jvm({.pid = 17, .nspid = 1, .keeps_trace = true});
  EXPECT_EQ(target(), json({{"kind", "process"}, {"pid", 17}, {"nspid", 1}, {"path", "in"}}));
}

TEST_F(Tables, DoNotCutLongNames) {
  const std::string name(3000, 'n');
  write(ThreadStart{.threadId = ThreadId(50), .time = at(50), .threadName = name});
  write(MethodEntry{.threadIdRef = ThreadId(50), .time = at(50), .methodIdRef = MethodId(1)});
  EXPECT_THAT(text(20), HasSubstr(name));
}

}  // namespace
}  // namespace jtrace::trace::io
