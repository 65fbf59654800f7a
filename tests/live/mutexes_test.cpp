// `jtrace inspect PID mutexes`: locks of the VM and of native code, and what `diagnose` says about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "tests/live/core_folder.h"
#include "tests/live/diagnosis.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Mutexes : public OnAilingJvm {};
JTRACE_ON_EACH_JDK(Mutexes);

json mutexes_of(const std::string& target, std::vector<std::string> words = {}) {
  words.insert(words.begin(), {"inspect", target, "mutexes", "--format", "json"});
  const auto done = must(run_jtrace(words, {.timeout = std::chrono::minutes(2)}));
  json document = json::parse(done.out, nullptr, false);
  if (!document.is_object()) ADD_FAILURE() << done.out << done.err;
  return document;
}

json row_named(const json& document, const std::string& name) {
  for (const json& each : document["data"])
    if (each.value("name", "") == name) return each;
  return json::object();
}

TEST_P(Mutexes, OfTheVmAreFoundByName) {
  const auto jvm = start();
  const json all = mutexes_of(jvm->pid_text(), {"--all"});
  for (const char* name : {"Threads_lock", "Heap_lock", "Compile_lock", "CodeCache_lock", "SystemDictionary_lock"})
    EXPECT_FALSE(row_named(all, name).empty()) << name << all;
  EXPECT_EQ(all["foundBy"], GetParam().version >= 25 ? "vmStructs" : "structure");
}

// System.gc() takes the Heap_lock.
TEST_P(Mutexes, HaveTheJavaThreadThatOwnsThem) {
  const auto jvm = start();
  must(jvm->ask("collect"));
  std::string owner;
  for (int i = 0; i < 100 && owner.empty(); ++i) {
    const json row = row_named(mutexes_of(jvm->pid_text()), "Heap_lock");
    if (row.contains("owner")) owner = row["owner"]["name"];
  }
  EXPECT_EQ(owner, "collector");
}

TEST_P(Mutexes, OfNativeCodeThatCrossAreADeadlock) {
  const bool with_core = why_no_kernel_core().empty();
  const auto jvm = start(with_diagnose_agent(GetParam(), "crossed"));
  const Diagnosis found = diagnose_until(*jvm, "native-deadlock");
  EXPECT_EQ(found.done.status, 1);
  EXPECT_THAT(found.rules(), ElementsAre("native-deadlock")) << found.done.out;
  EXPECT_THAT(found.texts("native-deadlock"),
              ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr("cross-1"), HasSubstr("cross-2"))));
  const json live = mutexes_of(jvm->pid_text());
  EXPECT_EQ(live["deadlocks"].size(), 1u) << live;
  EXPECT_EQ(live["deadlocks"][0].size(), 2u) << live;
  if (!with_core) return;
  const CoreFolder folder(*jvm);
  jvm->signal(SIGXCPU);
  must(jvm->wait_exit());
  ASSERT_NE(folder.core(), "");
  const json dead = mutexes_of(folder.core(), {"--sysroot", GetParam().root.value_or("/")});
  EXPECT_EQ(dead["deadlocks"].size(), 1u) << dead;
}

// A thread has the mutex of the operating system in a lock of the VM: from JDK 13 on a lock of the VM is made of one.
TEST_P(Mutexes, OfTheVmThatAreKeptAreNamedWithTheirWaiters) {
  if (GetParam().version < 13) GTEST_SKIP() << "before JDK 13 the VM's locks are not made of pthread mutexes";
  const auto jvm = start(with_diagnose_agent(GetParam(), "take"));
  const std::string address = row_named(mutexes_of(jvm->pid_text(), {"--all"}), "Heap_lock").value("address", "");
  ASSERT_NE(address, "");
  std::ofstream(jvm->in_working_folder("mutex")) << "0x" << std::hex << std::stoull(address, nullptr, 16) + 8 << "\n";
  for (int i = 0; i < 3000 && std::ifstream(jvm->in_working_folder("mutex")).good(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  must(jvm->ask("collect"));
  const Diagnosis found = diagnose_until(*jvm, "vm-lock");
  EXPECT_THAT(found.texts("vm-lock"), ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr("taker"),
                                                        HasSubstr("Heap_lock"), HasSubstr("collector"))))
      << found.done.out;
}

TEST_P(Mutexes, OfABusyJvmAreNoTrouble) {
  const auto jvm = start();
  must(jvm->ask("collect"));
  must(jvm->ask("busy 3"));
  for (int i = 0; i < 5; ++i) {
    const Diagnosis found = diagnose(jvm->pid_text(), {"--interval", "0.2"});
    EXPECT_THAT(found.texts("vm-lock"), IsEmpty()) << found.done.out;
    EXPECT_THAT(found.texts("native-deadlock"), IsEmpty()) << found.done.out;
  }
}

}  // namespace
}  // namespace jtrace::test
