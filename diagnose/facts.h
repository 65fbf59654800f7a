// Facts: the results of the collectors as plain values, the only input of the rules.
//
// What could not be read stays empty. Times are CLOCK_MONOTONIC in ns, sizes are bytes. Values; threads: any.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace jtrace::diagnose {

// Identifies a thread in all samples: java.lang.Thread's id; 0: a thread of the VM, or of native code.
using ThreadKey = std::int64_t;

struct FrameFact {
  std::string method;  // "java.lang.Thread.run"
  std::string source;  // "Thread.java:840"
  int bci = -1;
  // Of the innermost one, and the innermost one of the program: the same at two moments, if it was the same call; 0:
  // not known.
  std::uint64_t call = 0;
  bool operator==(const FrameFact& other) const {
    return method == other.method && source == other.source && bci == other.bci;
  }
};

struct WaitFact {
  // As in coreinspect::Wait: "monitor", "wait", "park", "initialisation". And instead of "wait" and "park", if it is
  // for another thread to do (coreinspect/tools/task_waits.h): "end" (of the owner), "task" (that the owner runs),
  // "queued" (a task in the queue of the pool `object`).
  std::string kind;
  std::string text;  // the same as a sentence without a subject
  std::uint64_t object = 0;
  std::string class_name;
  ThreadKey owner = 0;        // 0: unknown, or none
  std::string owner_name;     // "" as above
  bool owner_ended = false;   // the owner is a thread that has ended
  bool without_task = false;  // it waits in a pool or timer that has no work for it (coreinspect::waits_for_work)
  // True if it waits until the owner releases something, which may never happen.
  bool blocks() const { return kind == "monitor" || kind == "initialisation" || (kind == "park" && owner != 0); }
};

struct ThreadFact {
  ThreadKey key = 0;
  std::string name;
  pid_t tid = 0;      // in this process's pid namespace; 0 unknown, or of a core
  pid_t nid = 0;      // in the innermost pid namespace of the process, as MutexFact has it; 0 unknown
  std::string state;  // as in Thread.State; "" for threads of the VM
  bool is_virtual = false;
  std::string virtual_state;  // as java.lang.VirtualThread names it: "PARKED", "UNPARKED"; "" for platform threads
  std::string carrier;        // the name of the thread that runs it now; "" if none does
  std::vector<std::string> pinned_by;      // why it would keep its carrier if it waits (pin_causes.h)
  std::optional<int> parallelism;          // of a carrier: how many carriers its pool has to run virtual threads
  std::optional<std::uint64_t> ran_ns;     // on a processor
  std::optional<std::uint64_t> queued_ns;  // ready to run, without a processor
  std::uint64_t measured_ns = 0;           // time at which the two were read
  std::optional<std::uint64_t> asleep_ns;  // at the first look: the least time for which it had not run
  std::optional<std::uint64_t> waits;      // how often it has waited, each stop for a stack included
  bool in_call = false;           // the stop interrupted a system call in which it slept; false where that is not known
  bool slept = false;             // when `waits` was read, so that none is missing
  std::vector<FrameFact> frames;  // Java frames, innermost first
  bool whole = false;             // the frames are complete, down to the bottom of the stack
  std::optional<WaitFact> wait;
  std::string peer;      // of the socket that it waits for, "10.0.0.7:5432"; "" unknown
  std::string held_by;   // the tracer that has stopped it; "" otherwise
  std::string compiles;  // of a compiler thread: the method; "" if none
  int compile_id = 0;    // of this compilation; 0 if none
};

// A pool of java.util.concurrent, all of its threads.
struct PoolFact {
  std::uint64_t object = 0;  // as in WaitFact
  std::vector<ThreadKey> threads;
  bool may_grow = false;                // it has fewer than its maximum: it starts one when its queue is full
  std::optional<std::uint64_t> queued;  // tasks that wait in its queue
  bool is_scheduled = false;            // some of them may not be due yet
};

// A circle of waits through the queues of pools (coreinspect/tools/pool_circles.h).
struct PoolCircleFact {
  std::vector<ThreadKey> others;     // of none of the pools
  std::vector<std::uint64_t> pools;  // as PoolFact::object; all their threads are in the circle
};

// All threads at one moment.
struct ThreadsLook {
  std::uint64_t ns = 0;
  std::chrono::nanoseconds pause{};    // the longest that any thread was stopped
  std::chrono::nanoseconds stopped{};  // total since the previous sample: no thread ran during this time
  std::size_t stops = 0;               // their number
  // Of collections that have begun: at two samples with the same number each object has the same address. Nothing: one
  // was running, or the collector moves objects at any time.
  std::optional<std::uint64_t> collections;
  std::vector<ThreadFact> threads;
  std::vector<std::vector<ThreadKey>> deadlocks;  // in the order of "waits for": locks, ends of threads, tasks
  std::vector<PoolCircleFact> pool_circles;
  std::vector<PoolFact> pools;  // those of which all threads are known
  const ThreadFact* find(ThreadKey key) const {
    for (const ThreadFact& each : threads)
      if (each.key == key && key != 0) return &each;
    return nullptr;
  }
  // The virtual thread that the carrier of this name runs; null: none.
  const ThreadFact* carried_by(const std::string& carrier) const {
    for (const ThreadFact& each : threads)
      if (each.is_virtual && !carrier.empty() && each.carrier == carrier) return &each;
    return nullptr;
  }
  const ThreadFact* find_tid(pid_t tid) const {
    for (const ThreadFact& each : threads)
      if (each.tid == tid && tid != 0) return &each;
    return nullptr;
  }
};

// Stacks of one busy thread, some tens of milliseconds apart; it ran between any two of them.
using BusyStacks = std::map<ThreadKey, std::vector<std::vector<FrameFact>>>;

struct LateFact {
  ThreadKey key = 0;
  std::string name, why, frame;
};
// A handshake that was not run during the sample (coreinspect::LateHandshake).
struct HandshakeFact {
  std::uint64_t number = 0;
  std::string name, requester;  // "" unknown
  bool all = false;
  double since = 0;  // seconds for which the sample saw it
  std::vector<LateFact> late;
};
struct SafepointFact {
  enum class State { kUnknown, kNone, kSynchronizing, kSynchronized };
  State state = State::kUnknown;
  std::uint64_t ns = 0;                 // end of the sample
  std::optional<std::uint64_t> number;  // two with the same number are the same safepoint
  std::optional<double> since;          // seconds
  bool at_least = false;                // it may be older: this is how long it was observed
  std::string operation, requester;     // "" unknown, or none
  std::vector<LateFact> late;
  std::optional<std::vector<HandshakeFact>> handshakes;  // nothing if the JVM does not record them
  std::optional<bool> locker_wanted;  // a collection waits for native code that has an array of the heap
  std::optional<int> locker_regions;  // threads in such code
};

// The JVM's own limits (-XX:MaxMetaspaceSize and the like), and what was used of them at one moment.
struct LimitFact {
  std::optional<std::uint64_t> max_heap, max_metaspace, max_class_space;  // bytes; nothing if there is no limit
  std::uint64_t code_used = 0, code_size = 0;                             // bytes of all code heaps; size 0: unknown
  bool compiler_off = false;  // the JVM has compiled methods, and compiles no more
  bool attach_off = false;    // -XX:+DisableAttachMechanism
};

struct DirectFact {
  std::int64_t reserved = 0, count = 0;  // bytes, buffers
  std::optional<std::int64_t> limit;     // bytes
};

// Memory of glibc's arenas, without the main one (coreinspect/tools/malloc_heaps.h). Bytes.
struct MallocFact {
  std::uint64_t arenas = 0;          // their number
  std::uint64_t held = 0, free = 0;  // free: a lower bound
  std::uint64_t unread = 0;          // of held: it was too much to read
};

// A lock of the VM or of native code, at one moment.
struct MutexFact {
  std::string name;  // "Heap_lock"; of native ones "native mutex 0x..."
  std::string owner;
  pid_t owner_tid = 0;
  struct Waiter {
    pid_t tid = 0;
    std::string name;
    std::uint64_t switches = 0;  // the same number later: it has not run since
    bool operator==(const Waiter&) const = default;
  };
  std::vector<Waiter> waiters;
};
struct MutexLook {
  std::uint64_t ns = 0;
  std::vector<MutexFact> held;                          // those with an owner and waiters
  std::vector<std::vector<MutexFact::Waiter>> circles;  // in the order of "waits for"
};

// The JVM's performance counters at one moment (perfdata/derived.h).
struct CounterFact {
  std::uint64_t ns = 0;
  std::optional<double> gc_seconds, full_collections;             // since the JVM began
  std::optional<double> old_used, old_max;                        // bytes; used as of the last collection
  std::optional<double> metaspace_used, metaspace_committed;      // bytes
  std::optional<double> class_space_used, class_space_committed;  // bytes
  std::optional<double> collections;                              // of all collectors, since the JVM began
  std::optional<double> uptime;                                   // seconds
  std::string gc_cause;                                           // of the last collection; "" unknown
  std::optional<double> safepoints;                               // since the JVM began
  std::optional<double> threads_live, threads_started;            // Java threads; started since the JVM began
};

// A thread in the kernel's state D: it waits for a device or a file system, and no signal wakes it.
struct KernelWaitFact {
  pid_t tid = 0;
  std::string name, place;     // place: the kernel's function (wchan); "" if it is not known
  std::uint64_t switches = 0;  // the same number later: it has not run since
  bool operator==(const KernelWaitFact& other) const {
    return tid == other.tid && place == other.place && switches == other.switches;
  }
};

// The control groups of the process at one moment.
struct GroupFact {
  struct Cpu {
    std::string folder;
    std::uint64_t periods = 0, throttled = 0;  // since the group began
    double processors = 0;                     // that it may use
  };
  std::uint64_t ns = 0;
  bool visible = false;                                    // at least one of them can be seen from here
  std::optional<std::uint64_t> memory_used, memory_limit;  // bytes; used without page cache that can be reclaimed
  std::string memory_folder;                               // of the group with the lowest limit
  std::uint64_t killed = 0;                                // processes of this group that the kernel ended for memory
  std::vector<Cpu> cpu;                                    // groups with a limit
  std::optional<std::uint64_t> tasks, tasks_limit;         // of the group that is nearest to its limit
};

// A folder in which the JVM writes.
struct DiskFact {
  std::string path;  // as the process sees it
  std::string use;   // "temporary files"
  dev_t device = 0;
  std::uint64_t free = 0, size = 0;  // bytes; free: for users without privileges
};

// Sockets whose peer has closed the connection, and the process has not (CLOSE_WAIT), at one moment.
struct SocketFact {
  std::uint64_t unclosed = 0;
  std::string peer;  // the address with most of them: "10.0.0.7"
  std::uint64_t of_peer = 0;
};

struct ProcessFact {
  std::uint64_t ns = 0;
  char state = '?';                                 // R S D T t
  std::string tracer;                               // "gdb, process 4711"; "" if there is none but this program
  std::optional<std::uint64_t> files, files_limit;  // open descriptors, and their limit
  std::vector<KernelWaitFact> waits;
  std::optional<std::uint64_t> resident, swapped;  // bytes
  std::uint64_t major_faults = 0;                  // pages that were read from a disk, since the process began
};

// The VM operation at several moments between two samples; read only if the VM Thread is busy.
struct OperationsFact {
  std::size_t looks = 0;
  std::map<std::string, std::size_t> seen;  // "VM_ThreadDump" -> at how many of these
};

// A thread that waits in an allocation until the collector has freed memory.
struct StalledThread {
  std::string name, function;  // function: of the VM
  std::vector<FrameFact> frames;
};
// Of a collector that works beside the program (ZGC, Shenandoah), at several moments within half an interval.
struct StallFact {
  bool concurrent = false;                // false: this collector does not, and nothing was examined
  std::size_t looks = 0, with_stall = 0;  // moments; with one such thread or more
  std::size_t most = 0;                   // threads at one of them
  std::optional<StalledThread> last;
};

// Of a core: the JVM ended by itself (coreinspect/tools/crash.h).
struct CrashFact {
  std::string signal;                  // "SIGSEGV"
  std::optional<std::uint64_t> fault;  // the address that could not be read or written
  std::string thread;                  // its name; "" unknown
  pid_t nid = 0;
  std::vector<std::string> frames;  // native and Java ones, from where it crashed on, innermost first
};

struct Facts {
  std::optional<ClockAnchor> clock;  // of a live target
  std::string target;                // as argument of commands: a pid, or the path of a core
  bool live = true;                  // false: a core
  bool ended = false;                // the process ended before all of this was read
  std::string release;
  int feature = 0;
  std::optional<CrashFact> crash;
  std::vector<ThreadsLook> looks;
  BusyStacks busy;
  OperationsFact operations;
  std::optional<StallFact> stalls;
  std::vector<SafepointFact> safepoints;
  std::vector<ProcessFact> process;
  std::vector<CounterFact> counters;  // the first and the last look, and several in between
  std::optional<DirectFact> direct;   // nothing: there are none, or they could not be read
  bool direct_read = false;
  std::optional<LimitFact> limits;
  std::optional<MallocFact> malloc;
  std::vector<MutexLook> mutexes;
  std::vector<GroupFact> groups;
  std::optional<std::vector<DiskFact>> disks;
  std::vector<SocketFact> sockets;
};

}  // namespace jtrace::diagnose
