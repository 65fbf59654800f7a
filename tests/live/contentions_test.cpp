// --min-contention: a program that knows its contentions (tests/apps/Contends.java), traced with and without a least
// time; and what other parts of a trace make of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/strings.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/traced_jvm.h"
#include "trace/short_contentions.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

constexpr int kShort = 200, kLong = 4;

TracedJvm::Words with(std::initializer_list<const char*> more) {
  TracedJvm::Words words{"--events", "threads,monitors"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Of contentions of objects of that class of the program.
long count_of(const TraceDocument& trace, const std::string& element, const std::string& class_name) {
  std::map<std::string, std::string> classes, objects;
  for (const TraceElement* each : trace.all("classDef")) classes[each->get("classId")] = each->get("name");
  for (const TraceElement* each : trace.all("objDef")) objects[each->get("objId")] = each->get("classIdRef");
  long count = 0;
  for (const TraceElement* each : trace.all(element)) count += classes[objects[each->get("objIdRef")]] == class_name;
  return count;
}

// What the document says of the ones that it leaves out.
trace::ShortContentions left_out(const TraceDocument& trace, std::string_view class_name) {
  trace::ShortContentions sum;
  for (const TraceElement* each : trace.all("option")) {
    if (each->get("key") != "jtrace.shortContentions") continue;
    const auto read = trace::read_short_contentions(each->get("value"));
    if (!read || read->class_name != class_name) continue;
    sum.count += read->count;
    sum.total += read->total;
  }
  return sum;
}

std::string stats(const std::string& path) {
  const auto done = must(run_jtrace({"stats", path}));
  EXPECT_EQ(done.status, 0) << done.err;
  return done.out;
}

// A thread that was BLOCKED before the JVM reported it may miss its own event, and a busy machine makes a short one
// long.
TEST_P(EachJdk, ShortContentionsAreCounted) {
  TracedJvm jvm(GetParam(), "Contends", with({}));
  jvm.ask("short " + std::to_string(kShort));
  jvm.ask("long " + std::to_string(kLong));
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_EQ(trace.option("min-contention"), "0.001");
  const long lasting = count_of(trace, "monContendedEnter", "Contends$Lasting");
  EXPECT_GE(lasting, kLong - 1);
  EXPECT_LE(lasting, kLong);
  EXPECT_EQ(count_of(trace, "monContendedEntered", "Contends$Lasting"), lasting);
  EXPECT_EQ(left_out(trace, "Contends$Lasting").count, 0u);
  const long written = count_of(trace, "monContendedEnter", "Contends$Brief");
  const trace::ShortContentions brief = left_out(trace, "Contends$Brief");
  EXPECT_EQ(count_of(trace, "monContendedEntered", "Contends$Brief"), written);
  EXPECT_GE(static_cast<long>(brief.count) + written, kShort - 2);
  EXPECT_LE(static_cast<long>(brief.count) + written, kShort);
  EXPECT_GT(brief.count, kShort / 20u);  // on a busy machine many take long
  EXPECT_LT(brief.total, brief.count * 1'000'000);
  const std::string said = stats(jvm.path());
  EXPECT_THAT(said, HasSubstr("contentions of less than 1ms, "));
  EXPECT_THAT(said, HasSubstr("Contends$Brief"));
  record_support(GetParam(), "G1", "live", "short contentions are counted");
}

TEST_P(EachJdk, ZeroWritesEach) {
  TracedJvm jvm(GetParam(), "Contends", with({"--min-contention", "0"}));
  jvm.ask("short " + std::to_string(kShort));
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_EQ(count_of(trace, "monContendedEnter", "Contends$Brief"), kShort);
  EXPECT_EQ(count_of(trace, "monContendedEntered", "Contends$Brief"), kShort);
  EXPECT_THAT(stats(jvm.path()), Not(HasSubstr("less than")));
}

TEST_P(EachJdk, WhatIsOpenAtTheEndIsWritten) {
  TracedJvm jvm(GetParam(), "Contends", with({"--min-contention", "30s"}));
  jvm.ask("long 2");
  jvm.ask("open");
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_EQ(count_of(trace, "monContendedEnter", "Contends$Kept"), 1);
  EXPECT_EQ(count_of(trace, "monContendedEntered", "Contends$Kept"), 0);
  EXPECT_EQ(count_of(trace, "monContendedEnter", "Contends$Lasting"), 0);
  EXPECT_EQ(left_out(trace, "Contends$Lasting").count, 2u);
  EXPECT_GE(left_out(trace, "Contends$Lasting").total, 30'000'000u);
  jvm.ask("close");
}

TEST_P(EachJdk, APauseOfTheTraceLosesNone) {
  TracedJvm jvm(GetParam(), "Contends", with({"--min-contention", "100ms"}));
  jvm.ask("long 3");
  jvm.ctl({"pause"});
  jvm.ask("long 5");
  jvm.ctl({"resume"});
  jvm.ask("long 2");
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_EQ(left_out(trace, "Contends$Lasting").count, 5u);
  EXPECT_EQ(count_of(trace, "monContendedEnter", "Contends$Lasting"), 0);
}

TEST_P(EachJdk, ASpillsDocumentAndDatabaseHaveTheSame) {
  const ScratchDir folder;
  const std::string spill = folder.file("a.spill"), path = folder.file("a.xml");
  auto jvm = must(JvmProcess::start(GetParam(), "Contends", attachable(GetParam())));
  auto command = must(BackgroundCommand::start(
      {jtrace_binary(), "attach", jvm->pid_text(), "--spill", spill, "--events", "threads,monitors"}));
  ASSERT_TRUE(command->wait_err_line("jtrace: tracing JVM", std::chrono::seconds(60))) << command->err();
  must(jvm->ask("short 100"));
  must(jvm->ask("long 2"));
  command->signal(SIGINT);
  ASSERT_EQ(must(command->wait_exit()), 0) << command->err();
  const auto made = must(run_jtrace({"convert", spill, "-o", path}));
  ASSERT_EQ(made.status, 0) << made.err;
  const auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  const long written = count_of(trace, "monContendedEnter", "Contends$Brief");
  EXPECT_EQ(static_cast<long>(left_out(trace, "Contends$Brief").count) + written, 100);
  EXPECT_EQ(count_of(trace, "monContendedEnter", "Contends$Lasting"), 2);
  const auto csv = must(run_jtrace({"convert", path, "--to", "csv", "-o", folder.file("a")}));
  ASSERT_EQ(csv.status, 0) << csv.err;
  EXPECT_THAT(must(read_file(folder.file("a/notes.csv"))), HasSubstr("of less than 1ms"));
}

}  // namespace
}  // namespace jtrace::test
