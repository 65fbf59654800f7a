// Incomplete answers: a JVM that died while it started or during a collection, and a libjvm.so that is not HotSpot's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/live/core_folder.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

CommandOutput look(std::vector<std::string> words) {
  words.insert(words.begin(), "inspect");
  const auto done = run_jtrace(words);
  return done ? *done : CommandOutput{.err = done.error().message()};
}

TEST(Holes, AJvmThatDiedWhileItStarted) {
  JTRACE_NEED_JDK(jdk);
  if (const std::string why = why_no_kernel_core(); !why.empty()) JTRACE_SKIP("live", why);
  const auto jvm = must(JvmProcess::start(
      *jdk, "Standing",
      {.flags = {std::string("-agentpath:") + libraries_folder() + "/libholes_abort_agent.so", "-Xmx32m"}}));
  const CoreFolder folder(*jvm);
  must(jvm->send("now"));
  must(jvm->wait_exit());
  const std::string core = folder.core();
  ASSERT_NE(core, "");
  // What exists already is shown.
  const auto info = look({core, "info", "--format", "json"});
  EXPECT_THAT(info.status, AnyOf(0, 9)) << info.err;
  EXPECT_THAT(info.out, HasSubstr("\"SIGABRT\"")) << info.err;
  const auto flags = look({core, "flags"});
  EXPECT_THAT(flags.status, AnyOf(0, 9)) << flags.err;
  EXPECT_THAT(flags.out, HasSubstr("MaxHeapSize"));
  const auto pmap = look({core, "pmap"});
  EXPECT_THAT(pmap.out, HasSubstr("libjvm.so"));
  // What does not exist yet is named.
  for (const char* view : {"threads", "classes", "properties"}) {
    const auto lost = look({core, view});
    EXPECT_THAT(lost.status, AnyOf(4, 8, 9)) << view << lost.err;
    EXPECT_NE(lost.err, "") << view;
  }
  EXPECT_THAT(look({core, "classes"}).err, HasSubstr("not initialised"));
}

// The program collects nearly all of the time; if a core was taken between two collections, another JVM is tried.
TEST(Holes, AJvmThatDiedWhileItCollected) {
  JTRACE_NEED_JDK(jdk);
  if (const std::string why = why_no_kernel_core(); !why.empty()) JTRACE_SKIP("live", why);
  const auto classes = must(compiled_source("Collecting", R"(
      public final class Collecting {
        static Object[] head;
        public static void main(String[] args) throws Exception {
          for (int i = 0; i < 1_000_000; i++) head = new Object[] {head};
          Thread thread = new Thread(() -> { for (;;) System.gc(); }, "collector");
          thread.setDaemon(true);
          thread.start();
          System.out.println("READY");
          while (System.in.read() >= 0) { }
        }
      })"));
  for (int i = 0; i < 10; ++i) {
    const auto jvm =
        must(JvmProcess::start_classes(*jdk, classes, "Collecting", {.flags = {"-Xmx96m", "-XX:+UseSerialGC"}}));
    const CoreFolder folder(*jvm);
    jvm->signal(SIGABRT);
    must(jvm->wait_exit());
    const std::string core = folder.core();
    ASSERT_NE(core, "");
    const auto info = look({core, "info"});
    if (info.err.find("inside a collection") == info.err.npos) continue;
    EXPECT_EQ(info.status, 9);
    const auto threads = look({core, "threads", "--format", "json"});
    EXPECT_EQ(threads.status, 9) << threads.err;
    EXPECT_THAT(threads.out, HasSubstr("inside a collection"));
    EXPECT_TRUE(nlohmann::json::accept(threads.out));
    return;
  }
  FAIL() << "ten cores, none of them inside a collection";
}

TEST(Holes, ALibjvmWithoutTablesIsNotHotspot) {
  auto other = must(BackgroundCommand::start(
      {"sh", "-c", "echo here >&2; exec sleep 600"},
      {.environment = {std::string("LD_PRELOAD=") + build_folder() + "/tests/live/foreign/libjvm.so"}}));
  ASSERT_TRUE(other->wait_err_line("here", std::chrono::seconds(60)));
  // The second program's loader loads the library.
  const std::string proc = "/proc/" + std::to_string(other->pid());
  const auto is_loaded = [&] {
    return read_file(proc + "/comm").value_or("") == "sleep\n" &&
           read_file(proc + "/maps").value_or("").find("foreign/libjvm.so") != std::string::npos;
  };
  for (int i = 0; i < 6000 && !is_loaded(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto refused = look({std::to_string(other->pid()), "info"});
  EXPECT_EQ(refused.status, 4) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("OpenJ9")) << "it says what it may be";
  other->signal(SIGTERM);
}

}  // namespace
}  // namespace jtrace::test
