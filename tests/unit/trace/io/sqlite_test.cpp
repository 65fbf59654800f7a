// The derived tables of the database where the trace has gaps, and the CSV of it.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "tests/testlib/must.h"
#include "tests/testlib/scratch_dir.h"
#include "trace/io/byte_source.h"
#include "trace/io/open_source.h"
#include "trace/io/sqlite_csv.h"
#include "trace/io/sqlite_schema.h"
#include "trace/io/sqlite_writer.h"

namespace jtrace::trace::io {
namespace {

using jtrace::test::must;

// The cells of the first row, separated by blanks.
std::string ask(const std::string& path, const char* question) {
  sqlite3* db = nullptr;
  std::string answer;
  const auto add = [](void* to, int count, char** cells, char**) {
    auto& all = *static_cast<std::string*>(to);
    if (!all.empty()) return 0;
    for (int i = 0; i < count; ++i) all.append(i == 0 ? "" : " ").append(cells[i] == nullptr ? "-" : cells[i]);
    return 0;
  };
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, question, add, &answer, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
  return answer;
}

class SqliteViews : public ::testing::Test {
 protected:
  std::string database(const std::string& events) {
    const std::string path = scratch_.file("db");
    auto writer = must(make_sqlite_writer(path));
    const std::string text =
        "<?xml version=\"1.0\"?>\n<TRACE>\n"
        "<node nodeId=\"n\" hostname=\"h\" ipaddress=\"\" time=\"0.5\"/>\n"
        "<processCreate processId=\"p\" pid=\"4\" nodeIdRef=\"n\" time=\"1.0\" name=\"app\"/>\n"
        "<agentCreate agentId=\"a\" processIdRef=\"p\" agentName=\"jtrace\" time=\"1.0\"/>\n"
        "<traceStart traceId=\"t\" agentIdRef=\"a\" time=\"1.0\"/>\n"
        "<option key=\"jtrace.gaps\" value=\"by thread\"/>\n"
        "<threadStart threadId=\"1\" time=\"1.0\" threadName=\"one\"/>\n"
        "<classDef classId=\"1\" name=\"a/B\" time=\"1.0\"/>\n"
        "<methodDef methodId=\"1\" classIdRef=\"1\" name=\"f\" signature=\"()V\"/>\n" +
        events + "<traceEnd traceIdRef=\"t\" time=\"7.0\"/>\n</TRACE>\n";
    FaultLog faults;
    auto source = must(make_event_source(std::move(*memory_byte_source(text)), "in", faults));
    must(source->read(*writer));
    EXPECT_TRUE(writer->finish());
    return path;
  }
  jtrace::test::ScratchDir scratch_;
};

TEST_F(SqliteViews, ACallThatLostItsEndSaysSo) {
  const std::string path = database(
      "<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"1\"/>\n"
      "<monWait threadIdRef=\"1\" time=\"2.5\" objIdRef=\"-1\" timeout=\"0\"/>\n"
      "<option key=\"jtrace.gap\" value=\"thread=1,from=3.000000000,to=4.000000000,lost=17\"/>\n"
      "<option key=\"jtrace.dropped\" value=\"17\"/>\n");
  EXPECT_EQ(ask(path, "SELECT method, ms, complete, thread FROM calls"), "a.B.f 1000.0 0 one");
  EXPECT_EQ(ask(path, "SELECT kind, ms, complete FROM waits"), "sleeping 500.0 0");
  EXPECT_EQ(ask(path, "SELECT thread, ms, events FROM losses"), "one 1000.0 17");
  EXPECT_EQ(ask(path, "SELECT note LIKE '17 events were lost%' FROM notes"), "1");
}

// A thread of which nothing was written has no gap.
TEST_F(SqliteViews, LossesWithoutAGapHaveARowOfTheirOwn) {
  const std::string path = database(
      "<option key=\"jtrace.gap\" value=\"thread=1,from=3.000000000,to=4.000000000,lost=17\"/>\n"
      "<option key=\"jtrace.dropped\" value=\"20\"/>\n");
  EXPECT_EQ(ask(path, "SELECT sum(events) FROM losses"), "20");
  EXPECT_EQ(ask(path, "SELECT thread IS NULL, ms IS NULL FROM losses WHERE events = 3"), "1 1");
}

TEST_F(SqliteViews, PausesOfSeveralAgentsAndLateFiguresAreNoted) {
  const std::string pause =
      "<gcStart time=\"2.0\" traceIdRef=\"t\"/>\n<gcFinish time=\"2.5\" usedObjectSpace=\"7\" traceIdRef=\"t\"/>\n";
  const std::string noted = "SELECT count(*) FROM notes WHERE note LIKE ";
  const std::string one = database(pause);
  EXPECT_EQ(ask(one, (noted + "'the pauses of process p%'").c_str()), "0");
  EXPECT_EQ(ask(one, (noted + "'the heap after a pause%'").c_str()), "0");
  std::string other = pause;
  for (std::size_t at = other.find("\"t\""); at != other.npos; at = other.find("\"t\"")) other.replace(at, 3, "\"u\"");
  const std::string both =
      database(pause + "<agentCreate agentId=\"b\" processIdRef=\"p\" agentName=\"hsperf\" time=\"1.0\"/>\n" +
               "<traceStart traceId=\"u\" agentIdRef=\"b\" time=\"1.0\"/>\n" +
               "<option key=\"hsperf.gcInterval\" value=\"10000000\" traceIdRef=\"u\"/>\n" + other +
               "<traceEnd traceIdRef=\"u\" time=\"7.0\"/>\n");
  EXPECT_EQ(ask(both, (noted + "'the pauses of process p were recorded by 2 agents%'").c_str()), "1");
  EXPECT_EQ(ask(both, (noted + "'the heap after a pause was read up to 10 ms%'").c_str()), "1");
}

TEST_F(SqliteViews, APauseOfTheTraceIsNoted) {
  const std::string path = database(
      "<option key=\"jtrace.paused\" value=\"true\"/>\n"
      "<option key=\"jtrace.paused\" value=\"false\"/>\n");
  EXPECT_EQ(ask(path, "SELECT count(*) FROM notes WHERE note LIKE 'the trace was paused 1 time:%'"), "1");
}

// The document reached --max-size: what did not fit was not counted.
TEST_F(SqliteViews, LossesOfUnknownNumberSaySo) {
  const std::string path = database("<option key=\"jtrace.gap\" value=\"from=3.000000000\"/>\n");
  EXPECT_EQ(ask(path, "SELECT events FROM losses"), "unknown");
  EXPECT_EQ(ask(path,
                "SELECT count(*) FROM notes WHERE note LIKE 'events of the end are missing, and how many is not "
                "known%'"),
            "1");
}

TEST_F(SqliteViews, WhatFiltersAndOptionsLeftOutIsNoted) {
  const std::string enter = "<monContendedEnter threadIdRef=\"1\" time=\"2.0\" objIdRef=\"-1\"/>\n";
  const char* const owners = "SELECT count(*) FROM notes WHERE note LIKE 'waits without an owner: %--monitor-owner%'";
  const char* const objects = "SELECT count(*) FROM notes WHERE note LIKE 'allocations: only objects of the classes%'";
  const std::string options = "<option key=\"events\" value=\"monitors,objects\"/>\n";
  const std::string some = database(options + enter);
  EXPECT_EQ(ask(some, owners), "1");
  EXPECT_EQ(ask(some, objects), "0");
  const std::string all = database(options +
                                   "<option key=\"monitor-owner\" value=\"true\"/>\n"
                                   "<option key=\"sample-interval\" value=\"524288\"/>\n"
                                   "<filter pattern=\"*\" mode=\"exclude\" genericPattern=\"suffix\"/>\n" +
                                   enter);
  EXPECT_EQ(ask(all, owners), "0");
  EXPECT_EQ(ask(all, objects), "1");
}

TEST_F(SqliteViews, PercentilesAreSaidToBeAbout) {
  const std::string path = database(
      "<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"1\"/>\n"
      "<methodExit threadIdRef=\"1\" time=\"3.0\" methodIdRef=\"1\" ticket=\"1\"/>\n");
  EXPECT_EQ(ask(path, "SELECT count(*) FROM notes WHERE note LIKE 'median_ms and p99_ms%about%'"), "1");
}

// 1 of 100 calls was long enough to be recorded.
TEST_F(SqliteViews, PercentilesAreNotThoseOfTheSlowCallsAlone) {
  const std::string call =
      "<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"1\"/>\n"
      "<methodExit threadIdRef=\"1\" time=\"3.0\" methodIdRef=\"1\" ticket=\"1\"/>\n";
  const std::string slow =
      "<option key=\"events\" value=\"methods,counts\"/>\n<option key=\"slower-than\" value=\"0.01\"/>\n";
  const std::string other =
      "<methodDef methodId=\"2\" classIdRef=\"1\" name=\"quick\" signature=\"()V\"/>\n"
      "<methodDef methodId=\"3\" classIdRef=\"1\" name=\"never\" signature=\"()V\"/>\n"
      "<methodCount methodIdRef=\"2\" count=\"100\"/>\n<methodCount methodIdRef=\"3\" count=\"0\"/>\n";
  std::string path = database(slow + call + other + "<methodCount methodIdRef=\"1\" count=\"100\"/>\n");
  const std::string of =
      "SELECT calls, counted, median_ms, median_bound, p99_ms, p99_bound, longest_ms FROM methods WHERE method = ";
  EXPECT_EQ(ask(path, (of + "'a.B.f'").c_str()), "1 100 - <10 - ? 1000.0");
  EXPECT_EQ(ask(path, (of + "'a.B.quick'").c_str()), "0 100 - <10 - <10 -");
  EXPECT_EQ(ask(path, (of + "'a.B.never'").c_str()), "0 0 - - - - -");
  EXPECT_EQ(ask(path, "SELECT count(*) FROM notes WHERE note LIKE '%median_bound%'"), "1");
  path = database(call);
  EXPECT_EQ(ask(path, (of + "'a.B.f'").c_str()), "1 - 1000.0 - 1000.0 - 1000.0");
}

TEST_F(SqliteViews, CallsHaveTheirCallerSelfTimeAndWaits) {
  const std::string path = database(
      "<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"1\"/>\n"
      "<methodEntry threadIdRef=\"1\" time=\"3.0\" methodIdRef=\"1\" ticket=\"2\"/>\n"
      "<monWait threadIdRef=\"1\" time=\"3.5\" objIdRef=\"-1\" timeout=\"0\"/>\n"
      "<monWaited threadIdRef=\"1\" time=\"4.0\" objIdRef=\"-1\" timeout=\"0\"/>\n"
      "<methodExit threadIdRef=\"1\" time=\"5.0\" methodIdRef=\"1\" ticket=\"2\"/>\n"
      "<methodExit threadIdRef=\"1\" time=\"6.0\" methodIdRef=\"1\" ticket=\"1\"/>\n");
  EXPECT_EQ(ask(path, "SELECT ms, self_ms, waited_ms, depth, complete, caller IS NULL FROM calls ORDER BY started"),
            "4000.0 2000.0 500.0 1 1 1");
  EXPECT_EQ(ask(path, "SELECT c.ms, c.waited_ms, p.ms FROM calls c JOIN calls p ON p.id = c.caller"),
            "2000.0 500.0 4000.0");
}

TEST_F(SqliteViews, CallsSayWhichExceptionEndedThem) {
  const std::string path = database(
      "<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"1\"/>\n"
      "<methodExit threadIdRef=\"1\" time=\"3.0\" methodIdRef=\"1\" ticket=\"1\"><value name=\"exception\" "
      "type=\"OPAQUE\"/></methodExit>\n"
      "<methodEntry threadIdRef=\"1\" time=\"4.0\" methodIdRef=\"1\" ticket=\"2\"/>\n"
      "<methodExit threadIdRef=\"1\" time=\"5.0\" methodIdRef=\"1\" ticket=\"2\"/>\n");
  EXPECT_EQ(ask(path, "SELECT exception FROM calls ORDER BY started"), "?");
  EXPECT_EQ(ask(path, "SELECT count(*) FROM calls WHERE exception IS NULL"), "1");
}

// The wait comes before the methodEntry of the synchronized method, and belongs to it.
TEST_F(SqliteViews, TheWaitForTheMonitorOfASynchronizedMethodIsPartOfItsCall) {
  const std::string path = database(
      "<methodDef methodId=\"2\" classIdRef=\"1\" name=\"g\" signature=\"()V\" isSynchronized=\"true\"/>\n"
      "<monContendedEnter threadIdRef=\"1\" time=\"2.0\" objIdRef=\"9\"/>\n"
      "<monContendedEntered threadIdRef=\"1\" time=\"3.0\" objIdRef=\"9\"/>\n"
      "<methodEntry threadIdRef=\"1\" time=\"3.0\" methodIdRef=\"2\" ticket=\"1\"/>\n"
      "<methodExit threadIdRef=\"1\" time=\"3.5\" methodIdRef=\"2\" ticket=\"1\"/>\n");
  EXPECT_EQ(ask(path, "SELECT method, ms, waited_ms FROM calls"), "a.B.g 1500.0 1000.0");
}

// With --slower-than the entries are written at the exit, after the waits in the calls.
TEST_F(SqliteViews, CallsWhoseEntriesComeLateHaveTheirWaits) {
  const std::string path = database(
      "<methodDef methodId=\"2\" classIdRef=\"1\" name=\"g\" signature=\"()V\" isSynchronized=\"true\"/>\n"
      "<monContendedEnter threadIdRef=\"1\" time=\"2.0\" objIdRef=\"9\"/>\n"
      "<monContendedEntered threadIdRef=\"1\" time=\"3.0\" objIdRef=\"9\"/>\n"
      "<monWait threadIdRef=\"1\" time=\"3.2\" objIdRef=\"-1\" timeout=\"0\"/>\n"
      "<monWaited threadIdRef=\"1\" time=\"3.4\" objIdRef=\"-1\" timeout=\"0\"/>\n"
      "<methodEntry threadIdRef=\"1\" time=\"1.5\" methodIdRef=\"1\" ticket=\"1\"/>\n"
      "<methodEntry threadIdRef=\"1\" time=\"3.0\" methodIdRef=\"2\" ticket=\"2\"/>\n"
      "<methodExit threadIdRef=\"1\" time=\"3.5\" methodIdRef=\"2\" ticket=\"2\"/>\n"
      "<methodExit threadIdRef=\"1\" time=\"4.0\" methodIdRef=\"1\" ticket=\"1\"/>\n");
  EXPECT_EQ(ask(path, "SELECT method, ms, waited_ms FROM calls WHERE depth = 1"), "a.B.f 2500.0 1200.0");
  EXPECT_EQ(ask(path, "SELECT method, ms, waited_ms FROM calls WHERE depth = 2"), "a.B.g 1500.0 1200.0");
}

TEST_F(SqliteViews, WhatWasNotRecordedIsNull) {
  const std::string events =
      "<monContendedEnter threadIdRef=\"1\" time=\"2.5\" objIdRef=\"9\"/>\n"
      "<monContendedEntered threadIdRef=\"1\" time=\"3.0\" objIdRef=\"9\"/>\n"
      "<methodCount methodIdRef=\"1\" count=\"5\"/>\n";
  const char* const threads = "SELECT blocked_ms, waiting_ms, sleeping_ms, allocated_bytes FROM threads";
  std::string path = database("<option key=\"events\" value=\"monitors,counts\"/>\n" + events);
  EXPECT_EQ(ask(path, threads), "500.0 0.0 - -");
  EXPECT_EQ(ask(path, "SELECT calls, total_ms, self_ms, counted FROM methods"), "- - - 5");
  path = database("<option key=\"events\" value=\"threads,sleeps,objects,methods,counts\"/>\n" + events);
  EXPECT_EQ(ask(path, threads), "- - 0.0 0");
  EXPECT_EQ(ask(path, "SELECT calls, total_ms, self_ms, counted FROM methods"), "0 0.0 0.0 5");
  path = database(
      "<option key=\"events\" value=\"threads,sleeps,objects\"/>\n"
      "<option key=\"jtrace.threadState\" value=\"1 native\"/>\n" +
      events);
  EXPECT_EQ(ask(path, threads), "- - 0.0 -") << "its calls began before the trace";
}

TEST_F(SqliteViews, CollectionsHaveTheHeapBeforeAndAfterThem) {
  const std::string path = database(
      "<option key=\"jtrace.collection\" "
      "value=\"from=2.000000000,to=2.500000000,pauses=3,before=4194304,after=1048576,kind=minor,cause=Timer\"/>\n");
  EXPECT_EQ(ask(path, "SELECT time, ms, pauses, before_mb, used_mb, total_mb, kind, cause FROM collections"),
            "1970-01-01 00:00:02.000 500.0 3 4.0 1.0 - minor Timer");
}

TEST_F(SqliteViews, WhatIsDefinedAgainIsOneRow) {
  const std::string path = database(
      "<threadStart threadId=\"1\" time=\"1.5\" threadName=\"one\"/>\n<classDef classId=\"1\" name=\"a/B\" "
      "time=\"1.5\"/>\n"
      "<methodDef methodId=\"1\" classIdRef=\"1\" name=\"f\" signature=\"()V\"/>\n"
      "<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"1\"/>\n"
      "<methodExit threadIdRef=\"1\" time=\"3.0\" methodIdRef=\"1\" ticket=\"1\"/>\n");
  EXPECT_EQ(ask(path, "SELECT count(*) FROM calls"), "1");
  EXPECT_EQ(ask(path, "SELECT count(*) FROM threads"), "1");
}

TEST_F(SqliteViews, CsvQuotesWhatItMust) {
  const std::string path = database(
      "<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"1\">"
      "<value name=\"x\" type=\"STRING\" value=\"a, &quot;b&quot;\"/></methodEntry>\n"
      "<methodExit threadIdRef=\"1\" time=\"3.0\" methodIdRef=\"1\" ticket=\"1\"/>\n");
  const std::string csv = scratch_.file("csv");
  ASSERT_TRUE(write_csv_folder(path, csv + "/"));
  for (const std::string_view view : kSqliteViews)
    EXPECT_TRUE(std::filesystem::exists(csv + "/" + std::string(view) + ".csv")) << view;
  const std::string text = must(read_file(csv + "/arguments.csv"));
  EXPECT_NE(text.find(",x,STRING,\"a, \"\"b\"\"\","), std::string::npos) << text;
  const auto again = write_csv_folder(path, csv);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message().find("exists"), std::string::npos);
}

}  // namespace
}  // namespace jtrace::trace::io
