// `jtrace inspect PID safepoint`: a JVM in which a thread really does not come to a safepoint, and healthy ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/live/core_folder.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Without safepoints that no operation needs, and without polls in counted loops.
std::vector<std::string> flags_of(const Jdk& jdk) {
  std::vector<std::string> flags{"-Xmx32m", "-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions",
                                 "-XX:GuaranteedSafepointInterval=0"};
  if (jdk.version > 8) flags.insert(flags.end(), {"-XX:-UseCountedLoopSafepoints", "-XX:LoopStripMiningIter=0"});
  return flags;
}

std::string full_collection(const Jdk& jdk) { return jdk.version < 25 ? "VM_GenCollectFull" : "VM_SerialGCCollect"; }

CommandOutput run(const std::string& target, std::vector<std::string> words = {}) {
  words.insert(words.begin(), {"inspect", target, "safepoint"});
  const auto done = run_jtrace(words, {.timeout = std::chrono::minutes(2)});
  return done ? *done : CommandOutput{.err = done.error().message()};
}

json row_of(const CommandOutput& done) {
  const json document = json::parse(done.out, nullptr, false);
  if (document.is_object() && document["data"].size() == 1) return document["data"][0];
  ADD_FAILURE() << done.out << done.err;
  return json::object();
}

json state_of(const JvmProcess& jvm, std::vector<std::string> words = {}) {
  words.insert(words.end(), {"--format", "json"});
  const CommandOutput done = run(jvm.pid_text(), words);
  EXPECT_EQ(done.status, 0) << done.err;
  return row_of(done);
}

class Safepoint : public ::testing::TestWithParam<Jdk> {
 protected:
  std::unique_ptr<JvmProcess> start() {
    return must(JvmProcess::start(GetParam(), "LateThread", {.flags = flags_of(GetParam())}));
  }
  // Until the operation is seen, which the loop then holds up for tens of seconds.
  void make_late(JvmProcess& jvm) {
    must(jvm.ask("late"));
    for (int i = 0; i < 100 && state_of(jvm).value("state", "") != "synchronizing"; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  void expect_named(const json& row) {
    EXPECT_EQ(row["state"], "synchronizing") << row;
    EXPECT_EQ(row["operation"], full_collection(GetParam())) << row;
    EXPECT_EQ(row["requester"], "asker") << row;
    ASSERT_EQ(row["late"].size(), 1u) << row;
    EXPECT_EQ(row["late"][0]["name"], "late-loop") << row;
    EXPECT_EQ(row["late"][0]["vmState"], "in Java") << row;
    // From JDK 25 on the GC locker's flag is set for every collection.
    EXPECT_FALSE(row.contains("gcLocker") && row["gcLocker"]["collectionWaits"] != false) << row;
  }
};
JTRACE_ON_EACH_JDK(Safepoint);

TEST_P(Safepoint, ThatIsNotReachedIsNamedWithItsLateThread) {
  const auto jvm = start();
  make_late(*jvm);
  double before = 0;
  for (int i = 0; i < 5; ++i) {
    const json row = state_of(*jvm);
    expect_named(row);
    EXPECT_EQ(row["verdict"], "A safepoint is not reached: 1 thread is late.");
    EXPECT_THAT(row["late"][0].value("why", ""), HasSubstr("does not come to a safepoint poll"));
    // JDK 8 without symbols knows only how long it was watched.
    const double since = row["since"].is_number() ? row["since"].get<double>() : 0;
    EXPECT_GT(since, row.value("sinceIsLowerBound", false) ? 0.1 : before) << row;
    before = since;
  }
}

TEST_P(Safepoint, ShowsWhereTheLateThreadIsOnRequest) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const auto jvm = start();
  make_late(*jvm);
  const json row = state_of(*jvm, {"--stop"});
  expect_named(row);
  EXPECT_THAT(row["late"][0].value("frame", ""), HasSubstr("LateThread.divide(LateThread.java:"));
  EXPECT_EQ(row["late"][0]["code"], "compiled by C2");
  expect_named(state_of(*jvm));
}

json waits_of(const JvmProcess& jvm, const std::string& kind) {
  const auto done = must(run_jtrace({"inspect", jvm.pid_text(), "locks", "--format", "json"}));
  EXPECT_EQ(done.status, 0) << done.err;
  const json document = json::parse(done.out, nullptr, false);
  json found = json::array();
  for (const json& each : document["data"])
    if (each["kind"] == kind) found.push_back(each);
  return found;
}

TEST_P(Safepoint, ThatIsNotReachedIsInTheGraphOfLocks) {
  const auto jvm = start();
  EXPECT_EQ(waits_of(*jvm, "safepoint"), json::array());
  make_late(*jvm);
  const json found = waits_of(*jvm, "safepoint");
  ASSERT_EQ(found.size(), 1u) << found;
  EXPECT_EQ(found[0]["thread"], "VM Thread");
  EXPECT_EQ(found[0]["owner"], "late-loop");
  EXPECT_EQ(found[0]["requester"], "asker");
  EXPECT_EQ(found[0]["operation"], full_collection(GetParam()));
  EXPECT_GT(found[0]["ownerNativeId"], 0);
  EXPECT_EQ(waits_of(*jvm, "gc-locker"), json::array());
}

TEST_P(Safepoint, ThatNobodyWantsHasNoLateThreadInABusyJvm) {
  const auto jvm = start();
  must(jvm->ask("busy 3"));
  for (int i = 0; i < 8; ++i) {
    const json row = state_of(*jvm);
    EXPECT_EQ(row["verdict"], "No safepoint is being reached.") << row;
    EXPECT_EQ(row["state"], "not synchronized") << row;
    EXPECT_TRUE(row["operation"].is_null()) << row;
    EXPECT_TRUE(row["since"].is_null()) << row;
    EXPECT_TRUE(row["late"].empty()) << row;
    EXPECT_TRUE(row["handshakes"].empty()) << row;
  }
}

json handshake_of(const JvmProcess& jvm) {
  for (int i = 0; i < 100; ++i) {
    const json row = state_of(jvm);
    if (row["handshakes"].is_array() && !row["handshakes"].empty()) return row["handshakes"][0];
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return json::object();
}

TEST_P(Safepoint, OrAHandshakeOfOneThreadIsNamed) {
  if (GetParam().version < 16) GTEST_SKIP() << "threads wait for handshakes of others from JDK 16 on";
  const auto jvm = start();
  EXPECT_EQ(state_of(*jvm)["handshakes"], json::array());
  must(jvm->ask(GetParam().version < 20 ? "suspend" : "trace"));
  for (int i = 0; i < 3; ++i) {
    const json handshake = handshake_of(*jvm);
    EXPECT_EQ(handshake["requester"], "asker") << handshake;
    EXPECT_EQ(handshake["all"], false) << handshake;
    EXPECT_TRUE(handshake["name"].is_string()) << handshake;
    ASSERT_EQ(handshake["late"].size(), 1u) << handshake;
    EXPECT_EQ(handshake["late"][0]["name"], "late-loop") << handshake;
    EXPECT_GT(handshake["since"], 0.3) << handshake;
  }
  const json found = waits_of(*jvm, "handshake");
  ASSERT_EQ(found.size(), 1u) << found;
  EXPECT_EQ(found[0]["thread"], "asker");
  EXPECT_EQ(found[0]["owner"], "late-loop");
}

TEST_P(Safepoint, OrAHandshakeOfAllThreadsIsNamed) {
  if (GetParam().version < 16) GTEST_SKIP() << "these are VM operations at a safepoint before";
  const auto jvm = start();
  must(jvm->ask("deoptimize"));
  const json handshake = handshake_of(*jvm);
  EXPECT_EQ(handshake["requester"], "asker") << handshake;
  EXPECT_EQ(handshake["all"], true) << handshake;
  ASSERT_EQ(handshake["late"].size(), 1u) << handshake;
  EXPECT_EQ(handshake["late"][0]["name"], "late-loop") << handshake;
}

// Where the JVM has symbols: without them the VM Thread of a core is not known by its name.
TEST_P(Safepoint, IsInACoreWithoutTimes) {
  if (const std::string why = why_no_kernel_core(); !why.empty()) JTRACE_SKIP("core", why);
  const auto jvm = start();
  make_late(*jvm);
  const bool symbols = row_of(run(jvm->pid_text(), {"--format", "json"}))["foundBy"]["operation"] == "symbol";
  const CoreFolder folder(*jvm);
  jvm->signal(SIGXCPU);  // HotSpot does not catch it: the kernel writes the core
  must(jvm->wait_exit());
  ASSERT_NE(folder.core(), "");
  const std::string root = GetParam().root.value_or("/");
  const CommandOutput done = run(folder.core(), {"--format", "json", "--sysroot", root});
  const json row = row_of(done);
  EXPECT_EQ(row["state"], "synchronizing") << row << done.err;
  // One look: others may have been on their way, too.
  const auto late = std::find_if(row["late"].begin(), row["late"].end(),
                                 [](const json& each) { return each.value("name", "") == "late-loop"; });
  ASSERT_NE(late, row["late"].end()) << row;
  EXPECT_THAT(late->value("frame", ""), HasSubstr("LateThread.divide"));
  EXPECT_TRUE(row["since"].is_null()) << row;
  if (!symbols) return;
  EXPECT_EQ(row["operation"], full_collection(GetParam()));
  EXPECT_EQ(row["requester"], "asker");
}

}  // namespace
}  // namespace jtrace::test
