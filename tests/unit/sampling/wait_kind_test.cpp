// What a thread waits for, told from its stack.
#include "sampling/wait_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "sampling/kernel_names.h"
#include "sampling/profile_writers.h"

namespace jtrace::sampling {
namespace {

using coreinspect::Frame;
using coreinspect::FrameKind;
using ::testing::HasSubstr;

// Innermost first: "k:name" in the kernel, "v:name" in libjvm.so, "s:name" a stub, "n:name" other native code,
// "Class.method".
class Stack {
 public:
  explicit Stack(const std::vector<std::string>& frames) {
    for (const std::string& frame : frames) add(frame);
  }
  const coreinspect::Walk& walk() const { return walk_; }

 private:
  void add(const std::string& text) {
    Frame frame{.kind = FrameKind::kNative};
    if (text.size() > 1 && text[1] == ':') {
      frame.name = text.substr(2);
      if (text[0] == 's') frame.kind = FrameKind::kStub;
      else frame.module = text[0] == 'k' ? kKernelModule : text[0] == 'v' ? "libjvm.so" : "libc.so.6";
    } else {
      const std::size_t dot = text.rfind('.');
      coreinspect::JavaMethod& method = methods_.emplace_back();
      method.class_name = text.substr(0, dot);
      method.name = text.substr(dot + 1);
      frame.kind = FrameKind::kCompiled;
      frame.method = &method;
    }
    walk_.frames.push_back(std::move(frame));
  }
  std::list<coreinspect::JavaMethod> methods_;
  coreinspect::Walk walk_;
};

WaitKind kind(const std::vector<std::string>& frames) { return wait_kind_of(Stack(frames).walk()); }

const std::vector<std::string> kFutex = {"k:__schedule_[k]", "k:schedule_[k]", "k:futex_wait_queue_[k]",
                                         "k:do_futex_[k]", "n:__futex_abstimed_wait_common64"};
std::vector<std::string> futex(std::vector<std::string> further) {
  further.insert(further.begin(), kFutex.begin(), kFutex.end());
  return further;
}

bool parks(std::vector<std::string> frames) {
  frames.insert(frames.begin(),
                {"v:Unsafe_Park", "jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park"});
  return parks_for_lock(Stack(futex(frames)).walk());
}

TEST(WaitKind, OfAParkKnowsWhetherItIsForALockWithAnOwner) {
  const std::string queue = "java.util.concurrent.locks.AbstractQueuedSynchronizer.";
  const std::string condition = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await";
  const std::string lock = "java.util.concurrent.locks.ReentrantLock";
  EXPECT_TRUE(parks({queue + "parkAndCheckInterrupt", queue + "acquireQueued", queue + "acquire",
                     lock + "$NonfairSync.lock", lock + ".lock", "Cart.add"}));
  EXPECT_TRUE(parks({queue + "acquire", queue + "acquire", lock + "$Sync.lock", lock + ".lock", "Cart.add"}));
  EXPECT_TRUE(parks({queue + "doAcquireNanos", queue + "tryAcquireNanos", lock + ".tryLock"}));
  EXPECT_TRUE(parks(
      {queue + "acquire", queue + "acquireShared", "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock"}));
  EXPECT_TRUE(parks({queue + "acquire", condition, "Queue.take"})) << "it was signalled, and waits for the lock";
  EXPECT_FALSE(parks({condition, "Queue.take"}));
  EXPECT_FALSE(parks({"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionNode.block",
                      "java.util.concurrent.ForkJoinPool.managedBlock", condition, "Queue.take"}));
  EXPECT_FALSE(
      parks({queue + "acquire", queue + "acquireSharedInterruptibly", "java.util.concurrent.Semaphore.acquire"}));
  EXPECT_FALSE(parks({queue + "doAcquireSharedInterruptibly", queue + "acquireSharedInterruptibly",
                      "java.util.concurrent.CountDownLatch.await"}));
  EXPECT_FALSE(parks({"Own.park", queue + "acquire", lock + "$Sync.lock"}));
  EXPECT_FALSE(parks({}));
}

TEST(WaitKind, IsWhatTheVmDoes) {
  EXPECT_EQ(kind(futex({"v:Parker::park", "v:Unsafe_Park", "jdk.internal.misc.Unsafe.park"})), WaitKind::kPark);
  EXPECT_EQ(kind(futex({"v:ObjectMonitor::wait", "v:JVM_MonitorWait", "java.lang.Object.wait0"})), WaitKind::kWait);
  EXPECT_EQ(kind(futex({"v:os::PlatformEvent::park", "v:ObjectMonitor::enter", "v:InterpreterRuntime::monitorenter",
                        "app.Cart.add"})),
            WaitKind::kMonitor);
  EXPECT_EQ(kind(futex({"v:JVM_SleepNanos", "java.lang.Thread.sleepNanos0"})), WaitKind::kSleep);
  EXPECT_EQ(kind(futex({"v:SafepointSynchronize::block", "app.Cart.add"})), WaitKind::kSafepoint);
}

TEST(WaitKind, IsWhatTheMethodDoesIfTheVmHasNoSymbols) {
  EXPECT_EQ(kind(futex({"v:", "jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park"})),
            WaitKind::kPark);
  EXPECT_EQ(kind({"java.lang.Object.wait0", "java.lang.Object.wait"}), WaitKind::kWait);
  EXPECT_EQ(kind(futex({"v:", "s:complete_monitor_locking", "app.Cart.add"})), WaitKind::kMonitor);
}

TEST(WaitKind, OfACallOfTheKernelIsWhatItWaitsFor) {
  EXPECT_EQ(kind({"k:schedule_timeout_[k]", "k:sk_wait_data_[k]", "k:tcp_recvmsg_[k]", "n:__read",
                  "sun.nio.ch.SocketDispatcher.read0"}),
            WaitKind::kSocket);
  EXPECT_EQ(kind({"k:ep_poll_[k]", "k:do_epoll_wait_[k]", "n:epoll_wait", "sun.nio.ch.EPoll.wait"}), WaitKind::kPoll);
  EXPECT_EQ(kind({"k:anon_pipe_read_[k]", "k:vfs_read_[k]", "n:__read", "java.io.FileInputStream.readBytes"}),
            WaitKind::kPipe);
  EXPECT_EQ(kind({"k:io_schedule_[k]", "k:folio_wait_bit_common_[k]", "k:filemap_read_[k]", "n:pread64",
                  "sun.nio.ch.UnixFileDispatcherImpl.pread0"}),
            WaitKind::kFile);
}

TEST(WaitKind, OfAPageFaultIsOneWhateverRan) {
  EXPECT_EQ(kind({"k:io_schedule_[k]", "k:filemap_fault_[k]", "k:handle_mm_fault_[k]", "k:exc_page_fault_[k]",
                  "app.Cart.add"}),
            WaitKind::kPageFault);
}

TEST(WaitKind, OfAThreadOfTheVmIsTheVm) {
  EXPECT_EQ(kind(futex({"v:Monitor::wait", "v:VMThread::loop"})), WaitKind::kVm);
  EXPECT_EQ(kind(futex({"n:pthread_mutex_lock", "n:malloc"})), WaitKind::kNative);
  EXPECT_EQ(kind({}), WaitKind::kOther);
}

TEST(WaitKind, OfAFutexIsNotKnownIfTheStackIsCut) {
  coreinspect::Walk walk = Stack(kFutex).walk();
  EXPECT_EQ(wait_kind_of(walk), WaitKind::kNative);
  walk.stopped = "the memory is gone";
  EXPECT_EQ(wait_kind_of(walk), WaitKind::kOther);
  walk = Stack({"k:sk_wait_data_[k]", "k:tcp_recvmsg_[k]"}).walk();
  walk.stopped = "the memory is gone";
  EXPECT_EQ(wait_kind_of(walk), WaitKind::kSocket) << "the kernel says it";
}

TEST(WaitKind, IsNotToldFromFramesFarOut) {
  EXPECT_EQ(kind({"k:__schedule_[k]", "app.Cart.add", "app.Cart.all", "java.lang.Thread.sleep"}), WaitKind::kOther);
}

TEST(WaitKind, StandsBetweenTheThreadAndItsFrames) {
  coreinspect::ThreadReport thread;
  thread.name = "main";
  const Stack stack({"k:futex_wait_[k]", "jdk.internal.misc.Unsafe.park", "app.Cart.add", "java.lang.Thread.run"});
  thread.walk = stack.walk();
  ProfileCounts counts({.processes = true, .waits = true, .cpu = false});
  counts.add(thread, 5'000'000, WaitKind::kPark, "Main (7)");
  counts.add(thread, 1'000'000, WaitKind::kPark, "Main (7)");
  EXPECT_EQ(collapsed_text(counts),
            "Main (7);main;[park];java.lang.Thread.run;app.Cart.add;jdk.internal.misc.Unsafe.park;futex_wait_[k] "
            "6000000\n");
  EXPECT_EQ(place_of_wait(counts, counts.stacks().begin()->first), "app.Cart.add");
  EXPECT_EQ(waits_table(counts, 5),
            "     time, ms longest, ms    times  what and where\n"
            "        6.000       5.000        2  [park] app.Cart.add\n"
            "\n     time, ms longest, ms    times  thread\n"
            "        6.000       5.000        2  Main (7) / main\n");
}

ProfileCounts counted(const std::string& thread, const std::vector<std::string>& frames, WaitKind wait,
                      const std::string& cut = "") {
  const Stack stack(frames);
  coreinspect::ThreadReport report;
  report.name = thread;
  report.walk = stack.walk();
  report.walk.stopped = cut;
  ProfileCounts counts({.waits = true});
  counts.add(report, 5'000'000, wait);
  return counts;
}

TEST(WaitsTable, HasARowForTheThreadsOfTheVm) {
  const auto row = [](const std::vector<std::string>& frames) {
    return waits_table(counted("t", futex(frames), WaitKind::kVm), 5);
  };
  EXPECT_THAT(row({"v:Monitor::wait", "v:VMThread::loop"}), HasSubstr("1  [VM] threads of the VM\n"));
  EXPECT_THAT(row({"v:Mutex::lock", "v:JVM_DefineClass", "app.Cart.load"}), HasSubstr("1  [VM] app.Cart.load\n"))
      << "a Java thread that waits for a lock of the VM";
}

TEST(WaitsTable, ShowsCutSamplesOfCpuTimeAsRunning) {
  EXPECT_THAT(waits_table(counted("t", {"app.Cart.add"}, WaitKind::kNone, "the caller is not known"), 5),
              HasSubstr("1  [runs] app.Cart.add\n"));
  EXPECT_THAT(waits_table(counted("t", {"app.Cart.add"}, WaitKind::kPark, "the caller is not known"), 5),
              HasSubstr("1  [park] app.Cart.add\n"));
}

TEST(WaitsTable, SaysWhatItLeavesOut) {
  ProfileCounts counts({.waits = true});
  for (const std::string frame : {"app.A.a", "app.B.b", "app.C.c"}) {
    const Stack stack({frame});
    coreinspect::ThreadReport report;
    report.name = "t";
    report.walk = stack.walk();
    const std::uint64_t waits = frame == "app.A.a" ? 1 : 2;
    for (std::uint64_t i = 0; i < waits; ++i) counts.add(report, 5'000'000 / waits, WaitKind::kPark);
    if (frame == "app.B.b") counts.add(report, 1'000'000, WaitKind::kPark);
  }
  EXPECT_EQ(waits_table(counts, 1),
            "     time, ms longest, ms    times  what and where\n"
            "        6.000       2.500        3  [park] app.B.b\n"
            "       10.000       5.000        3  (2 more)\n"
            "\n     time, ms longest, ms    times  thread\n"
            "       16.000       5.000        6  t\n");
}

}  // namespace
}  // namespace jtrace::sampling
