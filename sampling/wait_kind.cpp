#include "sampling/wait_kind.h"

#include <string>

#include "sampling/kernel_names.h"

namespace jtrace::sampling {
namespace {

using coreinspect::Frame;
using coreinspect::FrameKind;

struct Word {
  std::string_view text;
  WaitKind kind;
};

// Parts of the names of HotSpot's functions and stubs, JDK 8 to 27. The first that any frame has decides, from the
// innermost frame on.
constexpr Word kVmWords[] = {
    {"Parker::park", WaitKind::kPark},
    {"Unsafe_Park", WaitKind::kPark},
    {"ObjectMonitor::wait", WaitKind::kWait},
    {"ObjectSynchronizer::wait", WaitKind::kWait},
    {"JVM_MonitorWait", WaitKind::kWait},
    {"ObjectMonitor::enter", WaitKind::kMonitor},
    {"ObjectMonitor::EnterI", WaitKind::kMonitor},
    {"ObjectMonitor::ReenterI", WaitKind::kMonitor},
    {"ObjectSynchronizer::enter", WaitKind::kMonitor},
    {"ObjectSynchronizer::fast_enter", WaitKind::kMonitor},
    {"ObjectSynchronizer::slow_enter", WaitKind::kMonitor},
    {"InterpreterRuntime::monitorenter", WaitKind::kMonitor},
    {"Runtime1::monitorenter", WaitKind::kMonitor},
    {"complete_monitor_locking", WaitKind::kMonitor},
    {"monitorenter", WaitKind::kMonitor},
    {"JVM_Sleep", WaitKind::kSleep},
    {"JavaThread::sleep", WaitKind::kSleep},
    {"os::sleep", WaitKind::kSleep},
    {"os::naked_", WaitKind::kSleep},
    {"SafepointSynchronize::block", WaitKind::kSafepoint},
    {"SafepointMechanism::", WaitKind::kSafepoint},
    {"wait_on_barrier", WaitKind::kSafepoint},
};

// Methods of the JDK: for a libjvm.so without symbols.
constexpr Word kMethods[] = {
    {"jdk.internal.misc.Unsafe.park", WaitKind::kPark},
    {"sun.misc.Unsafe.park", WaitKind::kPark},
    {"java.lang.Object.wait", WaitKind::kWait},
    {"java.lang.Thread.sleep", WaitKind::kSleep},
    {"java.net.SocketInputStream.socketRead", WaitKind::kSocket},
    {"java.net.PlainSocketImpl.socket", WaitKind::kSocket},
    {"sun.nio.ch.SocketDispatcher.", WaitKind::kSocket},
    {"sun.nio.ch.Net.", WaitKind::kSocket},
    {"sun.nio.ch.EPoll", WaitKind::kPoll},
    {"java.io.FileInputStream.read", WaitKind::kFile},
    {"java.io.RandomAccessFile.read", WaitKind::kFile},
    {"sun.nio.ch.FileDispatcherImpl.", WaitKind::kFile},
    {"sun.nio.ch.UnixFileDispatcherImpl.", WaitKind::kFile},
    {"java.lang.ProcessImpl.waitFor", WaitKind::kChild},
    {"java.lang.UNIXProcess.waitFor", WaitKind::kChild},
    {"java.lang.ProcessHandleImpl.waitFor", WaitKind::kChild},
};

// What is read for a page fault is read from a file too: these decide wherever they are.
constexpr std::string_view kFaultWords[] = {"handle_mm_fault", "exc_page_fault", "do_page_fault"};

// Parts of the names of the kernel's functions (Linux 4.x to 6.x), from the innermost frame on.
constexpr Word kKernelWords[] = {
    {"ep_poll", WaitKind::kPoll},     {"epoll_wait", WaitKind::kPoll},   {"do_sys_poll", WaitKind::kPoll},
    {"do_select", WaitKind::kPoll},   {"pipe_read", WaitKind::kPipe},    {"pipe_write", WaitKind::kPipe},
    {"anon_pipe_", WaitKind::kPipe},  {"tty_", WaitKind::kPipe},         {"sk_wait_", WaitKind::kSocket},
    {"sock_", WaitKind::kSocket},     {"tcp_", WaitKind::kSocket},       {"inet_", WaitKind::kSocket},
    {"unix_", WaitKind::kSocket},     {"skb_", WaitKind::kSocket},       {"nanosleep", WaitKind::kSleep},
    {"futex_", WaitKind::kNative},    {"kernel_wait", WaitKind::kChild}, {"do_wait_", WaitKind::kChild},
    {"io_schedule", WaitKind::kFile}, {"vfs_", WaitKind::kFile},         {"filemap_", WaitKind::kFile},
    {"ext4_", WaitKind::kFile},       {"xfs_", WaitKind::kFile},         {"btrfs_", WaitKind::kFile},
    {"jbd2_", WaitKind::kFile},       {"nfs_", WaitKind::kFile},         {"ksys_read", WaitKind::kFile},
    {"ksys_write", WaitKind::kFile},
};

template <std::size_t N>
WaitKind find(const Word (&words)[N], std::string_view name, bool from_the_start) {
  for (const Word& word : words)
    if (from_the_start ? name.starts_with(word.text) : name.find(word.text) != name.npos) return word.kind;
  return WaitKind::kNone;
}

// Of futexes only the VM knows what they are for.
WaitKind of_kernel(const coreinspect::Walk& walk) {
  for (const Frame& frame : walk.frames) {
    if (frame.module != kKernelModule) break;
    for (const std::string_view word : kFaultWords)
      if (frame.name.find(word) != std::string::npos) return WaitKind::kPageFault;
  }
  for (const Frame& frame : walk.frames) {
    if (frame.module != kKernelModule) break;
    if (const WaitKind kind = find(kKernelWords, frame.name, false); kind != WaitKind::kNone) return kind;
  }
  return WaitKind::kNone;
}

constexpr int kMethodsSeen = 2;  // the innermost ones; those further out wait for something that these do

// The function of the VM, or the method that called it.
WaitKind of_vm(const coreinspect::Walk& walk, bool& in_vm) {
  int methods = 0;
  for (const Frame& frame : walk.frames) {
    if (frame.module == kKernelModule) continue;
    if (frame.method) {
      const std::string name = frame.method->class_name + "." + frame.method->name;
      if (const WaitKind kind = find(kMethods, name, true); kind != WaitKind::kNone) return kind;
      if (++methods == kMethodsSeen) break;
      continue;
    }
    in_vm = in_vm || (frame.kind == FrameKind::kNative && frame.module.find("libjvm") != std::string::npos);
    if (methods > 0) continue;
    if (const WaitKind kind = find(kVmWords, frame.name, false); kind != WaitKind::kNone) return kind;
  }
  return WaitKind::kNone;
}

// The queue of a lock (JDK 8 to 27): AbstractQueuedSynchronizer.acquireQueued, doAcquireNanos, acquire,
// tryAcquireNanos, doAcquireShared, ...
bool is_queue(std::string_view class_name) {
  return class_name == "java.util.concurrent.locks.AbstractQueuedSynchronizer" ||
         class_name == "java.util.concurrent.locks.AbstractQueuedLongSynchronizer";
}
bool acquires(std::string_view method) {
  return method.find("cquire") != method.npos;  // acquire, tryAcquireNanos
}

// Between the VM and who parks: Unsafe, LockSupport, VirtualThread.
bool is_parking(std::string_view class_name) {
  return class_name == "java.util.concurrent.locks.LockSupport" || class_name == "sun.misc.Unsafe" ||
         class_name.starts_with("jdk.internal.") || class_name.starts_with("java.lang.");
}

bool is_of(std::string_view class_name, std::string_view outer) {
  return class_name == outer || (class_name.starts_with(outer) && class_name[outer.size()] == '$');
}

}  // namespace

bool parks_for_lock(const coreinspect::Walk& walk) {
  bool in_queue = false;
  for (const Frame& frame : walk.frames) {
    if (!frame.method) continue;
    const std::string_view name = frame.method->class_name;
    if (is_queue(name)) {
      in_queue = in_queue || acquires(frame.method->name);
    } else if (in_queue) {
      constexpr std::string_view kLocks = "java.util.concurrent.locks.";
      return is_of(name, "java.util.concurrent.locks.ReentrantLock") ||
             is_of(name, "java.util.concurrent.locks.ReentrantReadWriteLock") ||
             (name.starts_with(kLocks) && name.ends_with("$ConditionObject"));
    } else if (!is_parking(name)) {
      return false;
    }
  }
  return false;
}

std::string_view to_string(WaitKind kind) {
  switch (kind) {
    case WaitKind::kNone: return "[runs]";
    case WaitKind::kPark: return "[park]";
    case WaitKind::kMonitor: return "[monitor]";
    case WaitKind::kWait: return "[wait]";
    case WaitKind::kSleep: return "[sleep]";
    case WaitKind::kSocket: return "[socket]";
    case WaitKind::kPoll: return "[poll]";
    case WaitKind::kPipe: return "[pipe]";
    case WaitKind::kFile: return "[file]";
    case WaitKind::kPageFault: return "[page fault]";
    case WaitKind::kChild: return "[child process]";
    case WaitKind::kSafepoint: return "[safepoint]";
    case WaitKind::kVm: return "[VM]";
    case WaitKind::kNative: return "[native lock]";
    case WaitKind::kRunQueue: return "[run queue]";
    case WaitKind::kOther: return "[other wait]";
  }
  return "[other wait]";
}

WaitKind wait_kind_of(const coreinspect::Walk& walk) {
  const WaitKind kernel = of_kernel(walk);
  if (kernel == WaitKind::kPageFault) return kernel;
  bool in_vm = false;
  const WaitKind vm = of_vm(walk, in_vm);
  const bool descriptor = kernel != WaitKind::kNone && kernel != WaitKind::kNative && kernel != WaitKind::kSleep;
  if (descriptor && vm != WaitKind::kSafepoint) return kernel;
  if (vm != WaitKind::kNone) return vm;
  if (in_vm) return WaitKind::kVm;
  // What is missing may be the VM: of a JVM that has ended only the kernel's frames are left.
  if (kernel == WaitKind::kNative && walk.incomplete()) return WaitKind::kOther;
  return kernel == WaitKind::kNone ? WaitKind::kOther : kernel;
}

}  // namespace jtrace::sampling
