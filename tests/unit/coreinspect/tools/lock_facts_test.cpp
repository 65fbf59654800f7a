// Which threads that wait have no work, and which wait for something that does not come.
#include "coreinspect/tools/lock_facts.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace jtrace::coreinspect {
namespace {

const Wait kPark{.kind = "park"}, kInWait{.kind = "wait"};

// `methods`: "java.lang.Thread.run", the innermost first; "" is a stub.
bool is_idle(const Wait& wait, const std::vector<std::string>& methods) {
  std::deque<JavaMethod> known;
  Walk walk;
  for (const std::string& each : methods) {
    Frame& frame = walk.frames.emplace_back();
    const std::size_t dot = each.rfind('.');
    if (dot == std::string::npos) continue;
    JavaMethod method;
    method.class_name = each.substr(0, dot), method.name = each.substr(dot + 1);
    frame.method = &known.emplace_back(std::move(method));
  }
  return waits_for_work(wait, walk);
}

std::vector<std::string> parked_in(std::vector<std::string> callers) {
  std::vector<std::string> out = {"", "jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park"};
  out.insert(out.end(), callers.begin(), callers.end());
  return out;
}

TEST(WaitsForWork, InAPoolWithoutATask) {
  const std::string node = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await";
  const std::string pool = "java.util.concurrent.ThreadPoolExecutor";
  EXPECT_TRUE(is_idle(kPark, parked_in({"java.util.concurrent.SynchronousQueue.poll", pool + ".getTask",
                                        pool + ".runWorker", pool + "$Worker.run", "java.lang.Thread.run"})));
  EXPECT_TRUE(is_idle(kPark, parked_in({"java.util.concurrent.ForkJoinPool.unmanagedBlock", node,
                                        "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take",
                                        pool + ".getTask", pool + ".runWorker"})));
  EXPECT_TRUE(is_idle(kPark, parked_in({node, "java.util.concurrent.LinkedBlockingQueue.take",
                                        "org.apache.tomcat.util.threads.TaskQueue.take",
                                        "org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask"})));
  EXPECT_TRUE(is_idle(kPark, parked_in({"java.util.concurrent.ForkJoinPool.awaitWork",
                                        "java.util.concurrent.ForkJoinPool.runWorker"})));
}

TEST(WaitsForWork, InTimersAndThreadsOfTheJdk) {
  const std::string remove = "java.lang.ref.ReferenceQueue.remove";
  EXPECT_TRUE(is_idle(kInWait, {"java.lang.Object.wait", "java.util.TimerThread.mainLoop"}));
  EXPECT_TRUE(
      is_idle(kInWait, {"java.lang.Object.wait", remove, remove, "java.lang.ref.Finalizer$FinalizerThread.run"}));
  EXPECT_TRUE(
      is_idle(kInWait, {"java.lang.Object.wait0", "java.lang.ref.NativeReferenceQueue.await", remove + "0",
                        "java.lang.ref.NativeReferenceQueue.remove", "java.lang.ref.Finalizer$FinalizerThread.run"}));
  EXPECT_FALSE(is_idle(kInWait, {"java.lang.Object.wait", remove, "app.Cache.clean", "java.lang.Thread.run"}));
}

// A pool of connections that is empty, an answer that does not come.
TEST(WaitsForWork, IsNotWhoTakesFromAQueueInATask) {
  const std::string pool = "java.util.concurrent.ThreadPoolExecutor";
  EXPECT_FALSE(is_idle(
      kPark, parked_in({"java.util.concurrent.SynchronousQueue.poll", "com.zaxxer.hikari.util.ConcurrentBag.borrow",
                        "com.zaxxer.hikari.pool.HikariPool.getConnection", pool + ".runWorker", pool + "$Worker.run",
                        "java.lang.Thread.run"})));
  EXPECT_FALSE(is_idle(kPark, parked_in({"java.util.concurrent.LinkedBlockingQueue.poll", "app.Client.ask",
                                         "app.Main.run", "java.lang.Thread.run"})));
  EXPECT_FALSE(is_idle(kPark, parked_in({"java.util.concurrent.LinkedBlockingQueue.take", "java.lang.Thread.run"})));
  EXPECT_FALSE(is_idle(kInWait, {"java.lang.Object.wait", "app.Lock.enter", "app.Task.run",
                                 "java.util.TimerThread.mainLoop", "java.util.TimerThread.run"}));
}

TEST(WaitsForWork, IsNotWhoWaitsForAnOwner) {
  const std::vector<std::string> idle = parked_in({"java.util.concurrent.ThreadPoolExecutor.getTask"});
  EXPECT_TRUE(is_idle(kPark, idle));
  EXPECT_FALSE(is_idle({.kind = "park", .owner = "main"}, idle));
  EXPECT_FALSE(is_idle({.kind = "monitor"}, idle));
}

}  // namespace
}  // namespace jtrace::coreinspect
