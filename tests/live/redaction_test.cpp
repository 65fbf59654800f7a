// Redacted heap dumps: the same answers about sizes and references, and none of the contents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "tests/live/heap_peers.h"
#include "tests/live/planted_word.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/java_programs.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class RedactedDump : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    jvm_ = start_with_word(GetParam(), {"-Xmx64m", "-XX:+UseSerialGC"});
    must(jvm_->ask("name " + std::string(kPlantedWord)));
  }
  std::string dump(const std::string& of, const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"inspect", of, "heapdump", "-o", folder_.file(name)};
    words.insert(words.end(), more.begin(), more.end());
    if (of == jvm_->pid_text()) words.insert(words.end(), {"--max-stop", "20000"});
    const auto done = must(run_jtrace(words));
    EXPECT_EQ(done.status, 0) << done.err;
    return folder_.file(name);
  }
  ScratchDir folder_;
  std::unique_ptr<JvmProcess> jvm_;
};
JTRACE_ON_EACH_JDK(RedactedDump);

json data(const std::string& dump, std::vector<std::string> words) {
  return inspect_heap(dump, false, std::move(words))["data"];
}

// What does not ask for contents.
void expect_same_answers(const std::string& whole, const std::string& redacted) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"histogram"}, {"histogram", "--reachable"}, {"retained"}, {"refs", "Secrets$Account"}})
    EXPECT_EQ(data(whole, words), data(redacted, words)) << words.front();
  json before = data(whole, {"dominators", "--rows", "30"}), after = data(redacted, {"dominators", "--rows", "30"});
  for (json* each : {&before, &after})
    for (json& row : *each) row.erase("root");  // may be the name of a thread
  EXPECT_EQ(before, after);
}

void expect_told(const std::string& redacted) {
  const auto strings = must(run_jtrace({"inspect", redacted, "strings", "*"}));
  EXPECT_EQ(strings.status, 1);
  EXPECT_THAT(strings.err, HasSubstr("the heap dump is redacted: its strings have no text"));
  const auto values = must(run_jtrace({"inspect", redacted, "values", "0"}));
  EXPECT_EQ(values.status, 1);
  EXPECT_THAT(values.err, HasSubstr("the heap dump is redacted: its fields have no values"));
  const auto waste = must(run_jtrace({"inspect", redacted, "waste", "--rows", "1000"}));
  EXPECT_EQ(waste.status, 9);
  EXPECT_THAT(waste.err, HasSubstr("missing: equal strings and arrays, arrays of zeros: the heap dump is redacted"));
  for (const char* kind : {"duplicate strings", "duplicate arrays", "arrays of zeros"})
    EXPECT_THAT(waste.out, Not(HasSubstr(kind)));
  EXPECT_THAT(waste.out, HasSubstr("boxed numbers: java.lang.Integer"));
  const auto accounts = must(run_jtrace({"inspect", redacted, "instances", "Secrets$Account", "--rows", "1"}));
  EXPECT_EQ(accounts.status, 0) << accounts.err;
  for (const char* line : {"  latin = <redacted>\n", "  number = <redacted>\n", "  boxed = <redacted>\n"})
    EXPECT_THAT(accounts.out, HasSubstr(line));
  EXPECT_THAT(accounts.out, HasSubstr(" (101) [<redacted>, "));
  EXPECT_THAT(accounts.out, HasSubstr(" (1) {<redacted>=<redacted>}"));
  EXPECT_THAT(accounts.out, HasSubstr("char[14] @"));
}

TEST_P(RedactedDump, HasTheSameAnswersAndNoContents) {
  jvm_->signal(SIGSTOP);  // both dumps are of one moment
  const std::string whole = dump(jvm_->pid_text(), "whole.hprof"),
                    live = dump(jvm_->pid_text(), "live.hprof", {"--redact"});
  jvm_->signal(SIGCONT);
  EXPECT_FALSE(places_of_word(whole).empty());
  const std::string again = dump(whole, "again.hprof", {"--redact"});
  for (const std::string& redacted : {live, again}) {
    SCOPED_TRACE(redacted);
    EXPECT_EQ(places_of_word(redacted), std::vector<std::string>());
    expect_same_answers(whole, redacted);
    expect_told(redacted);
  }
  // Once more changes nothing.
  EXPECT_EQ(must(read_file(dump(again, "twice.hprof", {"--redact"}), 1u << 30)), must(read_file(again, 1u << 30)));
}

// The word stays in the text of one field, and nowhere else.
void expect_kept(const std::string& redacted) {
  const auto places = places_of_word(redacted);
  ASSERT_FALSE(places.empty());
  for (std::string place : places) {
    // JDK 8 has two bytes for each character.
    std::erase_if(place, [](unsigned char c) { return std::isalpha(c) == 0; });
    EXPECT_THAT(place, HasSubstr("latin"));
  }
  const auto accounts = must(run_jtrace({"inspect", redacted, "instances", "Secrets$Account", "--rows", "1"}));
  EXPECT_EQ(accounts.status, 0) << accounts.err;
  EXPECT_THAT(accounts.out, HasSubstr("  latin = \"" + std::string(kPlantedWord) + " latin\"\n"));
  EXPECT_THAT(accounts.out, HasSubstr("  wide = <redacted>\n"));
  EXPECT_THAT(accounts.out, HasSubstr("  number = <redacted>\n"));
  const auto strings = must(run_jtrace({"inspect", redacted, "strings", "*latin"}));
  EXPECT_EQ(strings.status, 9);
  EXPECT_THAT(strings.err, HasSubstr("redacted but for Secrets$Account.latin"));
  EXPECT_THAT(strings.out, HasSubstr("\"" + std::string(kPlantedWord) + " latin\"; Secrets$Account.latin\n"));
}

TEST_P(RedactedDump, KeepsTheTextOfAChosenField) {
  const std::string live = dump(jvm_->pid_text(), "live.hprof", {"--redact", "--keep", "Secrets$Account.latin"});
  expect_kept(live);
  const std::string whole = dump(jvm_->pid_text(), "whole.hprof");
  expect_kept(dump(whole, "again.hprof", {"--redact", "--keep", "Secrets$Account#latin"}));
  EXPECT_EQ(places_of_word(dump(live, "none.hprof", {"--redact"})), std::vector<std::string>());
  const auto refused = must(run_jtrace(
      {"inspect", whole, "heapdump", "--redact", "--keep", "Secrets$Account.latein", "-o", folder_.file("not.hprof")}));
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, HasSubstr("no field is called Secrets$Account.latein"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("not.hprof")));
}

TEST_P(RedactedDump, OfTheJvmsOwnDumpAndPacked) {
  const std::string theirs = folder_.file("theirs.hprof");
  take_own_dump(*jvm_, theirs);
  ASSERT_FALSE(places_of_word(theirs).empty());
  const std::string packed = dump(theirs, "theirs.hprof.gz", {"--redact"});
  const std::string redacted = dump(packed, "again.hprof", {"--redact"});
  EXPECT_EQ(places_of_word(redacted), std::vector<std::string>());
  const auto before = must(run_jtrace({"inspect", theirs, "retained"})),
             after = must(run_jtrace({"inspect", redacted, "retained"}));
  EXPECT_EQ(before.out, after.out);
  EXPECT_EQ(before.err, after.err);
}

TEST(RedactedDump, IsReadByVisualvm) {
  const std::string jars = visualvm_heap_jars();
  if (jars.empty()) GTEST_SKIP() << "no VisualVM (package visualvm; scripts/setup unpacks it)";
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  JTRACE_NEED_JDK(jdk);
  const ScratchDir folder;
  const auto jvm = must(JvmProcess::start(*jdk, "HeapZoo", attachable(*jdk, {"-Xmx128m"})));
  must(jvm->ask("park 2"));
  const std::string path = folder.file("ours.hprof");
  const auto done =
      must(run_jtrace({"inspect", jvm->pid_text(), "heapdump", "--redact", "-o", path, "--max-stop", "20000"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const std::string told = told_by_visualvm(*jdk, jars, path);
  for (const char* line : {"dangling=0", "count.HeapZoo$Node=20000", "field.HeapZoo$Derived.j=0", "static.counter=0"})
    EXPECT_THAT(told, HasSubstr("\n" + std::string(line) + "\n"));
}

}  // namespace
}  // namespace jtrace::test
