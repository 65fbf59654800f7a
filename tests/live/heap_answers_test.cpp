// What a heap is found to leak, where it is known: live, in a dump of ours, and in one that the JVM wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/live/heap_peers.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using nlohmann::json;

class HeapAnswers : public ::testing::TestWithParam<Jdk> {
 protected:
  void start(const std::vector<std::string>& leaks, const std::string& program = "Leaks") {
    JvmOptions options = attachable(GetParam(), {"-Xmx256m", "-XX:+UseSerialGC"});
    options.arguments = leaks;
    jvm_ = must(JvmProcess::start(GetParam(), program, options));
  }
  json ask(const std::string& target, std::vector<std::string> words) {
    return inspect_heap(target, target == jvm_->pid_text(), std::move(words));
  }
  std::string dumped() {
    std::string path = folder_.file("theirs.hprof");
    take_own_dump(*jvm_, path);
    return path;
  }
  ScratchDir folder_;
  std::unique_ptr<JvmProcess> jvm_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HeapAnswers);
INSTANTIATE_TEST_SUITE_P(Jdks, HeapAnswers, ::testing::ValuesIn(jdks()), NameOf());

struct Planted {
  const char* kind;
  const char* holder;
  const char* what;       // part of the evidence
  std::uint64_t entries;  // at least
};

std::string evidence_of(const json& row) {
  std::string text = row["sentence"];
  for (const json& line : row["evidence"]) text += "\n" + line.get<std::string>();
  return text;
}

// Roots of frames are conservative: a word that a frame has not written may still refer to an object.
bool is_held_by(const json& row, const std::string& holder) {
  const std::string told = row["holder"];
  return told.find(holder) != told.npos || told.starts_with("a local variable of thread");
}

void expect_planted(const json& document) {
  const std::vector<Planted> all = {
      {"accumulation", "static Leaks.SESSIONS", "20000 Leaks$Session among them", 20'000},
      {"accumulation", "static Leaks.LISTENERS", "8000 Leaks$Listener among them", 8000},
      {"accumulation", "static Leaks.INTERNED", "200000 java.lang.String among them", 200'000},
      {"thread-locals", "static Leaks.SCRATCH", "values such as Leaks$Scratch", 40},
      {"class loaders", "a thread", "such as thread \"plugin-", 12},
      {"direct buffers", "static Leaks.BUFFERS", "64 are held by", 64},
      {"finalizer queue", "static java.lang.ref.Finalizer.queue", "Finalizer", 1990},
  };
  for (const Planted& each : all) {
    bool found = false;
    for (const json& row : document["data"])
      found |= row["suspect"] == each.kind && row["entries"] >= each.entries && is_held_by(row, each.holder) &&
               evidence_of(row).find(each.what) != std::string::npos;
    EXPECT_TRUE(found) << each.kind << " by " << each.holder << " in\n" << document.dump(1);
  }
  EXPECT_EQ(document["data"].size(), all.size()) << document.dump(1);
}

TEST_P(HeapAnswers, NameEachPlantedLeakAndNothingElse) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  start({"map", "listeners", "local", "loaders", "direct", "interned", "finalizers"});
  {
    SCOPED_TRACE("live");
    expect_planted(ask(jvm_->pid_text(), {"leaks"}));
  }
  SCOPED_TRACE("the JVM's dump");
  const std::string dump = dumped();
  expect_planted(ask(dump, {"leaks"}));
  EXPECT_EQ(ask(dump, {"leaks", "--rows", "2"})["data"].size(), 2u);
  record_support(GetParam(), "Serial", "live", "heap: leaks");
}

TEST_P(HeapAnswers, OfAHealthyHeapHaveNoSuspect) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  start({"healthy"});
  for (const std::string& target : {jvm_->pid_text(), dumped()}) {
    const json document = ask(target, {"leaks"});
    EXPECT_EQ(document["data"].size(), 0u) << document.dump(1);
    EXPECT_GE(document["lookedAt"].size(), 5u);
  }
}

// A monitor keeps nothing; who has one keeps its object. Words on stacks may still refer to some of the others.
TEST_P(HeapAnswers, OfMonitorsAreThoseOfTheThreadsThatHaveThem) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  start({}, "Monitors");
  std::uint64_t dropped = 0;
  const json histogram = ask(jvm_->pid_text(), {"histogram", "--reachable"});
  for (const json& row : histogram["data"])
    if (row["class"] == "Monitors$Dropped") dropped = row["instances"];
  EXPECT_LE(dropped, 2u);
  constexpr std::uint64_t kKept = 200 * 50'000;
  std::uint64_t kept = 0;
  const json threads = ask(jvm_->pid_text(), {"retained", "--by", "thread"});
  for (const json& row : threads["data"])
    if (row.value("thread", "") == "keeper") kept = row["retained"];
  EXPECT_GE(kept, kKept) << threads.dump(1);
}

struct Wasted {
  const char *kind, *of, *holder;
  std::uint64_t objects, bytes;  // at least
};

void expect_wasted(const json& document) {
  constexpr std::uint64_t kOrders = 5000;
  const std::vector<Wasted> all = {
      {"duplicate strings", "java.lang.String", "Leaks$Order.city", kOrders - 10, (kOrders - 10) * 56},
      {"duplicate arrays", "byte[]", "Leaks$Order.picture", kOrders - 1, (kOrders - 1) * 112},
      {"arrays of zeros", "int[]", "Leaks$Order.zeros", kOrders, kOrders * 412},
      {"boxed numbers", "java.lang.Integer", "Leaks$Order.amount", kOrders, kOrders * 12},
      {"empty collections", "java.util.HashMap", "Leaks$Order.none", kOrders, kOrders * 40},
      {"single-entry collections", "java.util.HashMap", "Leaks$Order.single", kOrders, kOrders * 120},
      {"oversized collections", "java.util.ArrayList", "Leaks$Order.wide", kOrders, kOrders * 62 * 4},
  };
  for (const Wasted& each : all) {
    bool found = false;
    for (const json& row : document["data"])
      found |= row["waste"] == each.kind && row["class"] == each.of && row["holder"] == each.holder &&
               row["objects"] >= each.objects && row["bytes"] >= each.bytes &&
               row["bytes"] < each.bytes + each.bytes / 2;
    EXPECT_TRUE(found) << each.kind << " by " << each.holder << " in\n" << document.dump(1);
  }
}

// The JVM's own dump, and the same JVM after it has grown by a known part.
TEST_P(HeapAnswers, ComparedWithAnEarlierDumpSayWhatHasGrown) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  start({"listeners"});
  const std::string before = dumped();
  must(jvm_->ask("map"));
  const auto done = must(run_jtrace(
      {"heap", "diff", before, jvm_->pid_text(), "--filter", "Leaks*", "--format", "json", "--max-stop", "20000"}));
  ASSERT_TRUE(json::accept(done.out)) << done.err;
  const json document = json::parse(done.out);
  ASSERT_GE(document["data"].size(), 1u) << done.out;
  const json first = document["data"][0];
  EXPECT_EQ(first["class"], "Leaks$Session") << "nothing of the program's has grown more";
  EXPECT_EQ(first["instances"], 20'000);
  EXPECT_GE(first["retained"], 20'000 * 1016);
  EXPECT_GE(document["reachableAfter"].get<std::uint64_t>() - document["reachableBefore"].get<std::uint64_t>(),
            20'000 * 1016u);
  for (const json& row : document["data"]) EXPECT_NE(row["class"], "Leaks$Listener") << row;
}

TEST_P(HeapAnswers, TellWhatIsWastedAndWhichFieldHoldsIt) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  start({"waste"});
  const json live = ask(jvm_->pid_text(), {"waste"});
  expect_wasted(live);
  for (const json& row : live["data"])
    EXPECT_TRUE(row["waste"] != "duplicate strings" ||
                row["examples"][0]["text"].get<std::string>().starts_with("city of the number "));
  SCOPED_TRACE("the JVM's dump");
  expect_wasted(ask(dumped(), {"waste"}));
  record_support(GetParam(), "Serial", "live", "heap: waste");
}

}  // namespace
}  // namespace jtrace::test
