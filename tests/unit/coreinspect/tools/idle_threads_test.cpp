#include "coreinspect/tools/idle_threads.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace jtrace::coreinspect {
namespace {

const JavaMethod* method_of(const char* class_name) {
  static std::vector<std::unique_ptr<JavaMethod>> all;
  all.push_back(std::make_unique<JavaMethod>());
  all.back()->class_name = class_name;
  return all.back().get();
}

ThreadReport thread_of(const char* name, std::vector<const char*> classes, int vm_state = 10) {
  ThreadReport report;
  report.java.address = 0x1000;
  report.java.name = name;
  report.java.vm_state = vm_state;
  for (const char* each : classes) {
    report.walk.frames.emplace_back();
    report.walk.frames.back().method = method_of(each);
  }
  return report;
}

TEST(IdleThreads, AreThoseOfTheJdkThatWait) {
  const auto is_idle = [](const ThreadReport& report) { return is_idle_of_jdk(report, nullptr); };
  EXPECT_TRUE(is_idle(thread_of("Finalizer", {"java.lang.Object", "java.lang.ref.Finalizer$FinalizerThread"})));
  EXPECT_TRUE(is_idle(thread_of("C2 CompilerThread0", {})));
  EXPECT_TRUE(is_idle(thread_of("ForkJoinPool-1-delayScheduler", {"jdk.internal.misc.Unsafe"})));
  EXPECT_FALSE(is_idle(thread_of("C2 CompilerThread0", {}, 4))) << "it compiles";
  EXPECT_FALSE(is_idle(thread_of("Finalizer", {"java.lang.Object", "app.Stuck"}))) << "it runs a finalizer";
  EXPECT_FALSE(is_idle(thread_of("worker", {"java.lang.Object"}))) << "it is not the JDK's";
}

TEST(IdleThreads, WaitForNoLock) {
  const ThreadReport finalizer = thread_of("Finalizer", {"java.lang.Object"});
  const Wait monitor{.kind = "monitor"}, queue{.kind = "wait"}, lock{.kind = "park", .owner = "main"};
  EXPECT_FALSE(is_idle_of_jdk(finalizer, &monitor));
  EXPECT_FALSE(is_idle_of_jdk(finalizer, &lock));
  EXPECT_TRUE(is_idle_of_jdk(finalizer, &queue));
}

}  // namespace
}  // namespace jtrace::coreinspect
