// jtrace exceptions: what became of the exceptions of a real program that knows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/file.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The line of tests/apps/Throws.java with the comment "at WORD".
int line_of(const std::string& word) {
  static const std::string source = must(read_file(source_folder() + "/tests/apps/Throws.java"));
  const std::size_t at = source.find("// at " + word + "\n");
  EXPECT_NE(at, std::string::npos) << word;
  return 1 + static_cast<int>(std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

struct Way {
  std::string type, end, thrown, thrown_at, caught, caught_at;  // *_at: a word of line_of(), "": no line
  std::uint64_t count = 0, thrown_on = 0;
};

class ExceptionsTest : public ::testing::TestWithParam<Jdk> {
 protected:
  static std::vector<std::string> words(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"--events", "exceptions,threads", "--when-full", "block", "--block-limit",
                                 "10000",    "--filter",           "Throws*"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static json view_of(const std::string& path, int status = 0) {
    const CommandOutput done = must(run_jtrace({"exceptions", path, "--format", "json", "--rows", "1000"}));
    EXPECT_EQ(done.status, status) << done.err;
    return json::parse(done.out);
  }
  static bool is(const json& row, const Way& way) {
    const auto at = [&](const char* place, const std::string& method, const std::string& word) {
      if (!row.contains(place) || row[place]["method"] != "Throws" + method) return false;
      return word.empty() ? !row[place].contains("line") : row[place].value("line", 0) == line_of(word);
    };
    const bool is_caught = way.end != "left";
    return row["class"] == way.type && row["end"] == way.end && at("thrown", way.thrown, way.thrown_at) &&
           at(is_caught ? "caught" : "lastIn", way.caught, way.caught_at);
  }
  static void expect_exactly(const json& rows, const std::vector<Way>& ways) {
    for (const Way& way : ways) {
      std::uint64_t count = 0, thrown_on = 0;
      for (const json& row : rows)
        if (is(row, way)) count += row["count"].get<std::uint64_t>(), thrown_on += row["thrownOn"].get<std::uint64_t>();
      EXPECT_EQ(count, way.count) << way.end << " " << way.thrown << " " << way.caught << "\n" << rows.dump(1);
      EXPECT_EQ(thrown_on, way.thrown_on) << way.end << " " << way.thrown << " " << way.caught;
    }
    EXPECT_EQ(rows.size(), ways.size()) << rows.dump(1);
  }
};
JTRACE_ON_EACH_JDK(ExceptionsTest);

constexpr const char* kKnown = "Throws$Known";

TEST_P(ExceptionsTest, EndWhereTheProgramEndsThem) {
  TracedJvm jvm(GetParam(), "Throws", words());
  jvm.wait_rewritten();
  jvm.ask_each({"swallowed 30", "rethrown 31", "finallyBlocks 32", "returnsInFinally 33", "wrapped 34",
                "wrappedTwice 29", "suppressed 35", "parses 36", "ofTheJvm 37", "inNative 38", "kept 39", "helped 40",
                "left 7"});
  jvm.finish_valid();
  const json view = view_of(jvm.path());
  EXPECT_EQ(view["complete"], true);
  expect_exactly(
      view["data"][0]["exceptions"],
      {{kKnown, "swallowed", ".fail", "fail", ".swallowed", "swallowed", 30, 0},
       {kKnown, "swallowed", ".fail", "fail", ".rethrown", "rethrown", 31, 31},
       {kKnown, "swallowed", ".fail", "fail", ".finallyBlocks", "finallyBlocks", 32, 2 * 32},
       {kKnown, "swallowed", ".fail", "fail", ".returnsInFinally", "returnsInFinally", 33, 0},
       {kKnown, "wrapped", ".fail", "fail", ".wraps", "wraps", 34, 0},
       {"java.lang.IllegalStateException", "swallowed", ".wraps", "wrapper", ".wrapped", "wrapped", 34, 0},
       {kKnown, "wrapped", ".fail", "fail", ".wrapsTwice", "wrapsTwice", 29, 0},
       {"java.lang.IllegalStateException", "swallowed", ".wrapsTwice", "outer", ".wrappedTwice", "wrappedTwice", 29, 0},
       {kKnown, "swallowed", ".fail", "fail", ".suppressed", "suppressed", 35, 35},
       {"Throws$Closed", "suppressed", "$Resource.close", "closed", ".uses", "uses", 35, 0},
       {"java.lang.NumberFormatException", "swallowed", ".parses", "", ".parses", "parses", 36, 0},
       {"java.lang.NullPointerException", "swallowed", ".ofTheJvm", "", ".ofTheJvm", "ofTheJvm", 37, 0},
       {"java.lang.ArrayIndexOutOfBoundsException", "swallowed", ".inNative", "", ".inNative", "inNative", 38, 0},
       {kKnown, "swallowed", ".throwsKept", "kept", ".kept", "caughtKept", 39, 0},
       {kKnown, "swallowed", ".fail", "fail", ".helped", "helped", 40, 40},
       {kKnown, "left", ".fail", "fail", "$Dies.run", "", 7, 0}});
}

// The truth is the source of the handlers: only the first three drop what they catch.
TEST_P(ExceptionsTest, AreSwallowedOnlyIfTheHandlerDropsThem) {
  TracedJvm jvm(GetParam(), "Throws", words());
  jvm.wait_rewritten();
  jvm.ask_each({"ignored 20", "unrelated 21", "mayRethrow 22", "logged 23", "stored 24", "readInHandler 25",
                "wrapped 26", "finallyBlocks 27"});
  jvm.finish_valid();
  const json view = view_of(jvm.path());
  expect_exactly(
      view["data"][0]["exceptions"],
      {{kKnown, "swallowed", ".fail", "fail", ".ignored", "ignored", 20, 0},
       {kKnown, "swallowed", ".fail", "fail", ".unrelated", "unrelated", 21, 0},
       {kKnown, "swallowed", ".fail", "fail", ".mayRethrow", "mayRethrow", 22, 0},
       {kKnown, "used", ".fail", "fail", ".logged", "logged", 23, 0},
       {kKnown, "used", ".fail", "fail", ".stored", "stored", 24, 0},
       {kKnown, "used", ".fail", "fail", ".readInHandler", "readInHandler", 25, 0},
       {"java.lang.NumberFormatException", "swallowed", ".readInHandler", "", ".readInHandler", "readsOther", 25, 0},
       {kKnown, "wrapped", ".fail", "fail", ".wraps", "wraps", 26, 0},
       {"java.lang.IllegalStateException", "swallowed", ".wraps", "wrapper", ".wrapped", "wrapped", 26, 0},
       {kKnown, "swallowed", ".fail", "fail", ".finallyBlocks", "finallyBlocks", 27, 2 * 27}});
  EXPECT_EQ(view["data"][0]["exceptionsUsed"], 23 + 24 + 25);
  EXPECT_EQ(view["data"][0]["exceptionHandlersNotKnown"], 0);
  EXPECT_THAT(must(run_jtrace({"exceptions", jvm.path()})).out,
              AllOf(HasSubstr("  239 exceptions "),
                    HasSubstr("\n  141 swallowed (caught and dropped), 72 caught and used (logged, stored, asked), 26 "
                              "wrapped in another\n"),
                    Not(HasSubstr("does not say"))));
}

// The future's own handler is in the JDK, which the filter leaves out: the exception is thrown on as the cause of
// another.
TEST_P(ExceptionsTest, GoOnInAnotherThread) {
  TracedJvm jvm(GetParam(), "Throws", words());
  jvm.wait_rewritten();
  jvm.ask("inAnotherThread 20");
  jvm.finish_valid();
  const json rows = view_of(jvm.path())["data"][0]["exceptions"];
  std::uint64_t outer = 0, inner = 0;
  for (const json& row : rows) {
    if (row["class"] == "java.util.concurrent.ExecutionException" && row["end"] == "swallowed")
      outer += row["count"].get<unsigned>();
    if (row["class"] == kKnown && row["end"] == "left") inner += row["count"].get<unsigned>();
  }
  EXPECT_EQ(outer, 20u) << rows;
  EXPECT_EQ(inner, 20u) << rows;
}

// What a task throws, by the executor that catches it and by what its result is used for.
TEST_P(ExceptionsTest, OfTasksAreKeptUntilSomebodyAsks) {
  auto jvm = JvmProcess::start(GetParam(), "Throws", attachable(GetParam()));
  ASSERT_TRUE(jvm) << jvm.error().message();
  std::atomic<bool> is_over{false};
  std::thread work([&] {
    while (!is_over) (void)(*jvm)->ask("inTasks 5");
  });
  const auto done = run_jtrace({"exceptions", (*jvm)->pid_text(), "--duration", "4s", "--format", "json", "--filter",
                                "Throws", "--filter", "Throws$*"});
  is_over = true;
  work.join();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->status, 0) << done->err;
  const json rows = json::parse(done->out)["data"][0]["exceptions"];
  std::set<std::string> ends;
  for (const json& row : rows) {
    if (row["class"] != kKnown || row["end"] == "left") continue;
    ends.insert(row["end"].get<std::string>() + " " + row.value("keptFor", row.value("causeOf", "")));
  }
  EXPECT_THAT(ends, ElementsAre("used Future.get", "used the CompletableFuture",
                                "wrapped java.util.concurrent.CompletionException",
                                "wrapped java.util.concurrent.ExecutionException"))
      << done->out;
}

TEST_P(ExceptionsTest, HaveMessagesWhereAskedFor) {
  TracedJvm jvm(GetParam(), "Throws", words({"--exception-messages"}));
  jvm.wait_rewritten();
  jvm.ask_each({"swallowed 10", "parses 4"});
  jvm.finish_valid();
  std::map<std::string, int> messages;
  const json view = view_of(jvm.path());
  for (const json& row : view["data"][0]["exceptions"])
    for (const json& each : row["messages"]) messages[each["message"].get<std::string>()] += each["count"].get<int>();
  const std::map<std::string, int> expected{{"number 0", 4},
                                            {"number 1", 3},
                                            {"number 2", 3},
                                            {"For input string: \"x0\"", 2},
                                            {"For input string: \"x1\"", 2}};
  EXPECT_EQ(messages, expected);
}

// With tickets of calls, and in the page and the figures.
TEST_P(ExceptionsTest, StandInStatsAndReportToo) {
  TracedJvm jvm(GetParam(), "Throws",
                {"--events", "exceptions,methods,threads", "--when-full", "block", "--block-limit", "10000", "--filter",
                 "Throws*"});
  jvm.wait_rewritten();
  jvm.ask_each({"swallowed 30", "kept 5"});
  jvm.finish_valid();
  EXPECT_THAT(must(run_jtrace({"exceptions", jvm.path()})).out,
              AllOf(HasSubstr("35 exceptions in "), HasSubstr("\n  35 swallowed"), Not(HasSubstr("?")),
                    HasSubstr("thrown in Throws.fail:" + std::to_string(line_of("fail")) +
                              ", caught in Throws.swallowed:" + std::to_string(line_of("swallowed")))));
  EXPECT_THAT(must(run_jtrace({"stats", jvm.path()})).out, HasSubstr("\n  35 swallowed (caught and dropped)"));
  const json stats = json::parse(must(run_jtrace({"stats", jvm.path(), "--format", "json"})).out);
  EXPECT_EQ(stats["data"][0]["exceptionsSwallowed"], 35);
}

// A ring that is too small for what is thrown: what is reported is true, and what is not known is reported.
TEST_P(ExceptionsTest, OfThreadsThatLostEventsAreNotCalledSwallowed) {
  TracedJvm jvm(GetParam(), "Throws",
                {"--events", "exceptions,methods,threads", "--ring-memory", "1m", "--filter", "Throws*"});
  jvm.wait_rewritten();
  jvm.ask("rethrown 60000");
  const TraceDocument trace = jvm.finish(9);
  const json view = view_of(jvm.path(), 9);
  EXPECT_EQ(view["complete"], false);
  std::uint64_t wrong = 0, right = 0;
  for (const json& row : view["data"][0]["exceptions"]) {
    const bool at_end = row.contains("caught") && row["caught"].value("line", 0) == line_of("rethrown");
    if (row["end"] == "swallowed") (at_end ? right : wrong) += row["count"].get<unsigned>();
  }
  EXPECT_EQ(wrong, 0u) << view.dump(1);
  EXPECT_GT(right, 0u) << view.dump(1);
}

TEST_P(ExceptionsTest, OfAJvmInOneCommand) {
  auto jvm = JvmProcess::start(GetParam(), "Throws", attachable(GetParam()));
  ASSERT_TRUE(jvm) << jvm.error().message();
  std::atomic<bool> is_over{false};
  std::thread work([&] {
    while (!is_over) {
      (void)(*jvm)->ask("parses 10");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // so that the ring has room for all
    }
  });
  const auto done =
      run_jtrace({"exceptions", (*jvm)->pid_text(), "--duration", "4s", "--format", "json", "--messages"});
  is_over = true;
  work.join();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->status, 0) << done->err;
  const json rows = json::parse(done->out)["data"][0]["exceptions"];
  ASSERT_EQ(rows.size(), 1u) << rows;
  EXPECT_EQ(rows[0]["caught"]["line"], line_of("parses"));
  EXPECT_EQ(rows[0]["swallowed"], true);
  EXPECT_EQ(rows[0]["messages"].size(), 2u) << rows;
}

}  // namespace
}  // namespace jtrace::test
