// Thread.sleep and LockSupport.park as monWait and monWaited, against the program's own record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/testlib/must.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

struct Wait {
  std::string on;  // class of the object, "-1" for a sleep, "0" for none
  std::uint64_t timeout = 0;
  std::string owner;  // threadOwner
  std::uint64_t waited = 0;
  bool ended = false;
};
using Waits = std::vector<Wait>;

// The waits of the threads with that name, by threadId.
std::map<std::string, Waits> waits_of(const TraceDocument& trace, std::string_view name) {
  std::map<std::string, std::string> classes;
  std::map<std::string, std::string> objects{{"-1", "-1"}, {"0", "0"}};
  std::map<std::string, Waits> waits;
  for (const TraceElement& each : trace.events()) {
    if (each.name == "threadStart" && each.get("threadName") == name) waits[each.get("threadId")];
    if (each.name == "classDef") classes[each.get("classId")] = each.get("name");
    if (each.name == "objDef") objects[each.get("objId")] = classes[each.get("classIdRef")];
    const auto thread = waits.find(each.get("threadIdRef"));
    if (thread == waits.end()) continue;
    if (each.name == "monWait")
      thread->second.push_back({objects[each.get("objIdRef")], each.number("timeout"), each.get("threadOwner")});
    if (each.name == "monWaited" && !thread->second.empty()) {
      thread->second.back().waited = each.number("timeout");
      thread->second.back().ended = objects[each.get("objIdRef")] == thread->second.back().on;
    }
  }
  return waits;
}

// The waits of all threads with that name, in the order of their ids.
Waits all_waits_of(const TraceDocument& trace, std::string_view name) {
  Waits all;
  for (const auto& [id, waits] : waits_of(trace, name)) all.insert(all.end(), waits.begin(), waits.end());
  return all;
}

std::vector<std::uint64_t> timeouts(const Waits& waits) {
  std::vector<std::uint64_t> made;
  for (const Wait& each : waits) made.push_back(each.timeout);
  return made;
}

std::vector<std::string> objects(const Waits& waits) {
  std::vector<std::string> made;
  for (const Wait& each : waits) made.push_back(each.on);
  return made;
}

constexpr const char* kBlocker = "Waits$Blocker";

TEST_P(EachJdk, SleepsAndParksAreWhatTheProgramDid) {
  const bool has_virtual = GetParam().version >= 21;
  TracedJvm jvm(GetParam(), "Waits", {"--events", "threads,sleeps,parks"});
  std::vector<std::string> commands{"sleeps", "parks", "lock"};
  if (has_virtual) commands.insert(commands.end(), {"duration", "virtualSleeps 3", "virtualParks 3"});
  // No frame of jtrace is on the stack of a waiting thread.
  for (const std::string& command : commands) EXPECT_EQ(jvm.process().ask(command).value_or(""), "ours=0") << command;
  jvm.ctl({"pause"});
  jvm.ask("sleeps");
  jvm.ctl({"resume"});
  const TraceDocument trace = jvm.finish_valid();

  const Waits sleeps = all_waits_of(trace, "sleeper");
  std::vector<std::uint64_t> asked{5, 4, 7, 60'000};
  if (has_virtual) asked.push_back(11);
  EXPECT_EQ(timeouts(sleeps), asked);
  EXPECT_THAT(objects(sleeps), Each("-1"));
  for (const Wait& each : sleeps) {
    EXPECT_TRUE(each.ended);
    EXPECT_EQ(each.owner, "");
    // The sleep of a minute was interrupted; no other sleep is shorter than requested.
    if (each.timeout == 60'000) {
      EXPECT_LT(each.waited, 60'000u);
    } else {
      EXPECT_GE(each.waited + 1, each.timeout);
    }
  }
  const Waits parks = all_waits_of(trace, "parker");
  EXPECT_THAT(objects(parks), ElementsAre(kBlocker, kBlocker, kBlocker, "0"));
  ASSERT_THAT(parks, SizeIs(4));
  EXPECT_THAT(timeouts(parks), ElementsAre(0, 5, AllOf(Ge(1u), Le(6u)), 4));
  for (const Wait& each : parks) {
    EXPECT_TRUE(each.ended);
    EXPECT_EQ(each.owner, "0");
  }
  // A park for a lock may end for no reason and be repeated.
  const Waits locks = all_waits_of(trace, "locker");
  EXPECT_THAT(objects(locks), AllOf(Not(IsEmpty()), Each("java/util/concurrent/locks/ReentrantLock$NonfairSync")));
  const auto main = waits_of(trace, "main");
  ASSERT_EQ(main.size(), 1u);
  if (!locks.empty()) {
    EXPECT_EQ(locks[0].owner, main.begin()->first);
    EXPECT_THAT(must(run_jtrace({"stats", jvm.path()})).out, ::testing::HasSubstr("  locker for main\n"));
    EXPECT_THAT(must(run_jtrace({"stats", jvm.path()})).out,
                ::testing::ContainsRegex(
                    "CLASS OF THE MONITOR OR LOCK\n +[0-9]+ .*  java.util.concurrent.locks.ReentrantLock\\$"));
  }
  if (has_virtual) {
    std::size_t sleepers = 0;
    std::size_t parkers = 0;
    for (const auto& [id, waits] : waits_of(trace, "virtual")) {
      const bool is_sleeper = !waits.empty() && waits[0].on == "-1";
      ++(is_sleeper ? sleepers : parkers);
      if (is_sleeper) {
        EXPECT_THAT(timeouts(waits), ElementsAre(3, 3, 3, 60'000));
      } else {
        EXPECT_THAT(objects(waits), ElementsAre(kBlocker, kBlocker, "0", kBlocker));
      }
    }
    EXPECT_EQ(sleepers, 3u);
    EXPECT_EQ(parkers, 3u);
  }
  record_support(GetParam(), "G1", "live", "Thread.sleep as monWait");
  record_support(GetParam(), "G1", "live", "LockSupport.park as monWait");

  // Nothing is left that threads would meet.
  for (const char* command : {"sleeps", "parks"})
    EXPECT_EQ(jvm.process().ask(command).value_or(""), "ours=0") << command;
  EXPECT_EQ(jvm.err(), "");
  EXPECT_THAT(jvm.out(), Not(::testing::HasSubstr("WARN")));  // RegisterNatives would warn here
}

TEST_P(EachJdk, AVirtualOwnerOfALockHasItsName) {
  if (GetParam().version < 21) GTEST_SKIP() << "no virtual threads";
  TracedJvm jvm(GetParam(), "Waits", {"--events", "threads,parks"});
  jvm.ask("virtualLock");
  jvm.finish_valid();
  EXPECT_THAT(must(run_jtrace({"stats", jvm.path()})).out, ::testing::HasSubstr("  borrower for virtual\n"));
}

// Both rewrite the same classes; a JVM can be traced again after a trace.
TEST_P(EachJdk, WaitsAndCalloutsShareAClass) {
  auto jvm = must(JvmProcess::start(GetParam(), "Waits", attachable(GetParam())));
  for (int round = 0; round < 2; ++round) {
    auto run = must(TraceRun::start(
        jvm->pid(), {"--events", "threads,sleeps,parks,methods,exceptions,lines", "--when-full", "block",
                     "--block-limit", "10000", "--filter", "java.lang.Thread include", "--filter",
                     "java.util.concurrent.locks.LockSupport include", "--filter", "* exclude"}));
    for (const char* command : {"sleeps", "parks"}) must(jvm->ask(command));
    if (GetParam().version >= 21) {
      must(jvm->ask("virtualSleeps 1"));
    }
    auto trace = must(run->finish());
    EXPECT_TRUE(none(trace.faults()));
    EXPECT_THAT(all_waits_of(trace, "sleeper"), SizeIs(4));
    EXPECT_THAT(all_waits_of(trace, "parker"), SizeIs(4));
    if (GetParam().version >= 21) {
      int short_sleeps = 0;  // only virtual threads sleep for 3 ms
      for (const TraceElement* each : trace.all("monWait"))
        short_sleeps += each->get("objIdRef") == "-1" && each->get("timeout") == "3";
      EXPECT_EQ(short_sleeps, 3);
    }
  }
  EXPECT_EQ(jvm->err(), "");
}

// Elements of that kind on the objects of that class, with the pauses. (A thread that is woken may contend, and a
// thread that ends may contend for other monitors.)
std::vector<std::string> story_of(const TraceDocument& trace, std::string_view kind, std::string_view class_name) {
  std::string class_id;
  std::set<std::string> objects;
  std::vector<std::string> story;
  for (const TraceElement& each : trace.events()) {
    if (each.name == "classDef" && each.get("name") == class_name) class_id = each.get("classId");
    if (each.name == "objDef" && !class_id.empty() && each.get("classIdRef") == class_id)
      objects.insert(each.get("objId"));
    if (each.name == "option" && each.get("key") == "jtrace.paused") story.push_back("paused=" + each.get("value"));
    if (each.name.starts_with(kind) && objects.contains(each.get("objIdRef"))) story.push_back(each.name);
  }
  return story;
}

// An event during a pause or a stop of the trace is missing; its other half is not.
TEST_P(EachJdk, PausesInTheMiddleOfWaits) {
  TracedJvm jvm(GetParam(), "Waits", {"--events", "threads,monitors"});
  const auto ctl = [&](const std::string& verb) { jvm.ctl({verb}); };
  jvm.ask("open");
  ctl("pause");
  jvm.ask("close");
  jvm.ask("open");  // begins in the pause, and ends after it
  ctl("resume");
  jvm.ask("close");
  ctl("stop");
  const TraceDocument first = jvm.document();
  EXPECT_TRUE(none(first.faults()));
  EXPECT_THAT(story_of(first, "monWait", "Waits$Meeting"),
              ElementsAre("monWait", "paused=true", "monWaited", "paused=false", "monWaited"));
  EXPECT_THAT(
      story_of(first, "monContended", "Waits$Taken"),
      ElementsAre("monContendedEnter", "paused=true", "monContendedEntered", "paused=false", "monContendedEntered"));
  // Open at the start of the next trace: only an end; at its stop: only a beginning.
  jvm.ask("open");
  ctl("start");
  jvm.ask("close");
  jvm.ask("open");
  ctl("stop");
  jvm.ask("close");
  const TraceDocument second = jvm.finish();
  EXPECT_TRUE(none(second.faults()));
  EXPECT_THAT(story_of(second, "monWait", "Waits$Meeting"), ElementsAre("monWaited", "monWait"));
  EXPECT_THAT(story_of(second, "monContended", "Waits$Taken"), ElementsAre("monContendedEntered", "monContendedEnter"));
  record_support(GetParam(), "G1", "live", "waits that a pause falls into");
}

}  // namespace
}  // namespace jtrace::test
