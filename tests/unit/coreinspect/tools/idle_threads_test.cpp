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
  const auto is_idle = [](const ThreadReport& report) { return is_idle_of_jdk(report, nullptr, false); };
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
  EXPECT_FALSE(is_idle_of_jdk(finalizer, &monitor, false));
  EXPECT_FALSE(is_idle_of_jdk(finalizer, &lock, false));
  EXPECT_TRUE(is_idle_of_jdk(finalizer, &queue, false));
  EXPECT_FALSE(is_idle_of_jdk(finalizer, &queue, true)) << "others wait for it";
}

TEST(IdleThreads, HaveNoMonitorButTheOneInWhoseWaitTheyAre) {
  ThreadReport finalizer = thread_of("Finalizer", {"java.lang.Object"});
  const Wait queue{.kind = "wait", .object = 0x100};
  finalizer.walk.frames[0].locks = {0x100};
  EXPECT_TRUE(is_idle_of_jdk(finalizer, &queue, false));
  finalizer.walk.frames[0].locks = {0x100, 0x200};
  EXPECT_FALSE(is_idle_of_jdk(finalizer, &queue, false));
}

// The VM's state is the same whether such a thread waits for work or for its own operation.
TEST(IdleThreads, DoNotRunAnOperationOfTheVm) {
  const auto is_idle = [](const char* name, std::vector<const char*> functions) {
    ThreadReport report = thread_of(name, {});
    for (const char* each : functions) report.walk.frames.push_back({.kind = FrameKind::kNative, .name = each});
    return is_idle_of_jdk(report, nullptr, false);
  };
  EXPECT_TRUE(is_idle("Attach Listener", {"accept", "LinuxAttachListener::dequeue()"}));
  EXPECT_FALSE(is_idle("Attach Listener", {"pthread_cond_wait", "VMThread::execute(VM_Operation*)"}));
  EXPECT_FALSE(is_idle("Attach Listener", {"pthread_cond_wait", ""})) << "the VM's functions have no names";
  EXPECT_FALSE(is_idle("Attach Listener", {})) << "native frames are not known";
  EXPECT_TRUE(is_idle("Finalizer", {"pthread_cond_wait", "ObjectMonitor::wait(long, bool)", "JVM_MonitorWait"}));
  EXPECT_TRUE(is_idle("Signal Dispatcher", {}));
  EXPECT_TRUE(is_idle("Signal Dispatcher", {"do_futex_wait", "sem_wait", "os::signal_wait()"}));
  EXPECT_FALSE(is_idle("Signal Dispatcher", {"pthread_cond_wait", "VMThread::execute(VM_Operation*)"}));
  EXPECT_FALSE(is_idle("C2 CompilerThread0", {"pthread_cond_wait", "Mutex::lock_contended(Thread*)"}));
  EXPECT_FALSE(is_idle("C2 CompilerThread0", {"VM_HeapDumper::doit_prologue()"}));
  EXPECT_FALSE(is_idle("C2 CompilerThread0", {"SafepointSynchronize::block(JavaThread*)"}));
  EXPECT_TRUE(is_idle("C2 CompilerThread0", {"pthread_cond_timedwait", "Monitor::wait(long)", "CompileQueue::get()"}));
}

}  // namespace
}  // namespace jtrace::coreinspect
