// Leaks of twenty kinds (with those of heap_answers_test.cpp): each is named, with what holds it, and nothing else is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/live/heap_peers.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;

struct Planted {
  const char* word;     // for tests/apps/MoreLeaks
  const char* suspect;  // its kind
  const char* holder;   // part of what holds it
  const char* told;     // part of the sentence or the evidence
};

// Up to ten at a time: each keeps a tenth of the heap. The tasks are as near to the thread as to the field.
const std::vector<std::vector<Planted>>& programs() {
  static const std::vector<std::vector<Planted>> all = {
      {
          {"concurrent", "accumulation", "static MoreLeaks.CONCURRENT", "MoreLeaks$Session among them"},
          {"queue", "accumulation", "static MoreLeaks.QUEUE", "MoreLeaks$Message among them"},
          {"chain", "accumulation", "static MoreLeaks.head", "a structure of 10000 MoreLeaks$Link"},
          {"weak", "accumulation", "static MoreLeaks.WEAK", "MoreLeaks$Document among them"},
          {"singleton", "accumulation", "static MoreLeaks$Registry.ONLY", "MoreLeaks$Price among them"},
          {"lru", "accumulation", "static MoreLeaks.LRU", "MoreLeaks$Visit among them"},
          {"tasks", "accumulation", "", "MoreLeaks$Job among them"},
          {"drivers", "class loaders", "static java.sql.DriverManager.registeredDrivers", "MoreLeaks$DriverLoader"},
      },
      {
          {"identity", "accumulation", "static MoreLeaks.IDENTITY", "MoreLeaks$Row among them"},
          {"undo", "accumulation", "static MoreLeaks.UNDO", "MoreLeaks$Step among them"},
          {"inner", "accumulation", "static MoreLeaks.WINDOWS", "MoreLeaks$Window$Resize among them"},
          {"synchronized", "accumulation", "static MoreLeaks.SYNCHRONIZED", "MoreLeaks$Token among them"},
          {"log", "accumulation", "static MoreLeaks.LOG", "elements"},
          {"phantom", "reference queue", "static MoreLeaks.GONE", "nobody has taken them away"},
          {"running", "accumulation", "a local variable of thread \"gatherer\"", "MoreLeaks$Load among them"},
          {"hooks", "class loaders", "static java.lang.ApplicationShutdownHooks.hooks", "MoreLeaks$HookLoader"},
      },
      {
          {"soft", "accumulation", "static MoreLeaks.SOFT", "SoftReference among them"},
          {"timer", "class loaders", "thread \"reminders\"", "MoreLeaks$TimerLoader"},
          {"listed", "class loaders", "static MoreLeaks.LISTED", "MoreLeaks$ListedLoader"},
      },
  };
  return all;
}

class MoreLeaks : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(MoreLeaks);

std::string all_of(const json& row) {
  std::string text = row["sentence"].get<std::string>() + "\n" + row["holder"].get<std::string>();
  for (const json& line : row["evidence"]) text += "\n" + line.get<std::string>();
  return text;
}

// Roots of frames are conservative: a word that a frame has not written may still refer to an object.
bool is(const json& row, const Planted& planted) {
  if (row["suspect"] != planted.suspect) return false;
  const std::string text = all_of(row), holder = row["holder"];
  // Ten loaders, each with a class that has 10,000 bytes, of which something holds an object.
  const bool is_loaders = row["suspect"] == "class loaders";
  if (is_loaders && (row["retained"] < 100'000 || text.find("through an object of MoreLeaks$Plugged") == text.npos))
    return false;
  return text.find(planted.told) != text.npos &&
         (text.find(planted.holder) != text.npos || holder.starts_with("a local variable of thread"));
}

void expect_named(const json& document, const std::vector<Planted>& planted) {
  for (const Planted& each : planted)
    EXPECT_TRUE(
        std::any_of(document["data"].begin(), document["data"].end(), [&](const json& row) { return is(row, each); }))
        << each.word << ": " << each.suspect << " by " << each.holder;
  EXPECT_EQ(document["data"].size(), planted.size());
  if (::testing::Test::HasFailure()) std::printf("%s\n", document.dump(1).c_str());
}

TEST_P(MoreLeaks, AreNamedWithTheirHolders) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  for (const auto& planted : programs()) {
    JvmOptions options = attachable(GetParam(), {"-Xmx256m", "-XX:+UseSerialGC"});
    for (const Planted& each : planted) options.arguments.emplace_back(each.word);
    const auto jvm = must(JvmProcess::start(GetParam(), "MoreLeaks", options));
    SCOPED_TRACE(planted.front().word);
    expect_named(inspect_heap(jvm->pid_text(), true, {"leaks"}), planted);
    const ScratchDir folder;
    take_own_dump(*jvm, folder.file("theirs.hprof"));
    SCOPED_TRACE("the JVM's dump");
    expect_named(inspect_heap(folder.file("theirs.hprof"), false, {"leaks"}), planted);
  }
}

// The entries of each look are what the program had put by then, whatever the collector does meanwhile.
TEST_P(MoreLeaks, ThatGrowAreToldFromWhatOnlyIsLarge) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const auto jvm = must(JvmProcess::start(GetParam(), "Grows", {.flags = {"-Xmx64m"}}));
  const auto put = [&] { return std::stoull(must(jvm->ask("count"))); };
  const std::uint64_t before = put();
  const json document = inspect_heap(jvm->pid_text(), true, {"leaks", "--duration", "3s"});
  const std::uint64_t after = put();
  std::vector<json> growing;
  bool has_cache = false;
  for (const json& row : document["data"]) {
    if (row["grewEachTime"].get<bool>() && row["holder"].get<std::string>().starts_with("static Grows."))
      growing.push_back(row);
    has_cache = has_cache || (row["holder"] == "static Grows.CACHE" && !row["grewEachTime"].get<bool>());
  }
  ASSERT_FALSE(growing.empty()) << document;
  EXPECT_EQ(growing.front()["holder"], "static Grows.OPEN") << document;
  EXPECT_TRUE(has_cache) << document;
  const json& looks = growing.front()["looks"];
  ASSERT_EQ(looks.size(), 3u);
  std::uint64_t last = before;
  for (const json& look : looks) {
    const auto entries = look["entries"].get<std::uint64_t>();
    EXPECT_GE(entries, last) << document;
    last = entries;
  }
  EXPECT_LE(last, after + 1) << document;  // put, but not counted yet
  // Of one of the entries: the node that has it is the map's, which the field has. A collection may move it meanwhile.
  json references;
  for (int i = 0; i < 10 && references.empty(); ++i) {
    const json order = inspect_heap(jvm->pid_text(), true, {"instances", "Grows$Order", "--rows", "1"})["data"][0];
    const auto done = must(run_jtrace({"inspect", jvm->pid_text(), "refs", order["address"], "--format", "json"}));
    if (done.status == 0) references = json::parse(done.out)["data"];
  }
  // A table that was too small, and its nodes, may be there still: garbage, which nothing has.
  EXPECT_TRUE(std::any_of(references.begin(), references.end(), [](const json& row) {
    return row.value("heldBy", "") == "static Grows.OPEN";
  })) << references;
  EXPECT_GT(growing.front()["entriesPerSecond"].get<double>(), 0) << document;
}

}  // namespace
}  // namespace jtrace::test
