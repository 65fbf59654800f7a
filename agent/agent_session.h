// AgentSession: one tracing inside one JVM, from Start to Detached.
//
// A library has at most one at a time. Callbacks reach it through CallbackGuard, which ensures that no thread is inside
// a callback when the session is destroyed. The session owns its JVM TI environment (and with it all tags and
// capabilities), the mapping of the pool and the control socket.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "agent/byte_buffer.h"
#include "agent/config.h"
#include "agent/definition_stream.h"
#include "agent/jvm_support.h"
#include "agent/producer.h"
#include "agent/stack_looks.h"
#include "agent/thread_ids.h"
#include "base/unique_fd.h"

namespace jtrace::agent {

class MethodTracer;
class Registry;
class WaitTracer;
struct NotOffered;

// The collections of the trace, for the callbacks of their events and for the thread that reads their figures.
struct Collections {
  std::atomic<std::uint32_t> number{0};  // of the last one
  // Open pairs of JVM TI's events: G1 posts one pair within another if a full Metaspace is the cause.
  std::atomic<std::uint32_t> depth{0};
  std::atomic<bool> start_written{false};        // of the outermost pair: not if the trace was paused then
  std::atomic<std::uint32_t> figures_wanted{0};  // last collection whose figures are to be read
  // The counters that are read at both ends of a pause. Null: those of Start; later those of Counters.
  std::atomic<const JvmCounters*> counters{nullptr};
  // Of the open one, for the thread that ends it too: pauses do not overlap.
  std::atomic<const JvmCounters*> noted_by{nullptr};  // what the next two were read from
  std::array<std::atomic<std::uint64_t>, kMaxCollectors> invocations{};
  std::atomic<std::uint64_t> used_before{0};
};

class AgentSession {
 public:
  AgentSession(JavaVM* java_vm, UniqueFd socket);
  ~AgentSession();

  // Maps the pool, makes the JVM TI environment, takes the capabilities that the events need and sets the callbacks. In
  // the live phase it also switches the events on; before it, vm_init() does. Returns nullptr, or the reason for the
  // failure (static text).
  const char* start(UniqueFd pool, bool live);
  // Switches events on, defines existing threads and classes, starts the control thread. In the live phase.
  const char* go_live(JNIEnv* jni);
  // Wakes the control thread if it waits for jtrace.
  void wake() const;
  // Called by the control thread when every event that was asked for is on and
  // the loaded classes have their probes; or when that can no longer happen.
  void announce_all_is_on();
  // Waits for that; false after `limit_ns`. For a thread inside a callback.
  bool wait_until_all_is_on(std::uint64_t limit_ns) const;
  // Switches events off, waits until no callback is running, disposes of environment and pool. On the control thread.
  void stop(JNIEnv* jni);

  // Events that found no room, or whose definition found none.
  void count_dropped(std::uint64_t events) {
    writer.pool.header().dropped_events.fetch_add(events, std::memory_order_relaxed);
  }
  // What the session's own thread is doing: for the report about a JVM that died.
  void note_work(record::AgentWork work) {
    writer.pool.header().agent_work.store(static_cast<std::uint32_t>(work), std::memory_order_relaxed);
  }
  // An option of the trace.
  void write_option(std::string_view key, std::string_view value);
  // The events that were asked for and are not possible in this JVM, with the reasons; "" if there are none.
  std::string_view left_out() const { return left_out_.view(); }

  JavaVM* vm;
  jvmtiEnv* jvmti = nullptr;
  UniqueFd control;
  UniqueFd wakeup;  // eventfd: wakes the control thread: for heap figures, or for classes that threads wait for
  Config config;
  PoolWriter writer;
  DefinitionStream definitions;
  ThreadIds threads;
  StackLooks looks;
  std::unique_ptr<Registry> registry;
  std::unique_ptr<MethodTracer> methods;  // if probes are wanted and possible
  std::unique_ptr<WaitTracer> waits;      // if sleeps or parks are wanted and possible
  std::uint64_t pool_size = 0;
  std::uint64_t granted_events = 0;  // EventBit
  jclass string_class = nullptr;     // global reference to java.lang.String
  std::atomic<bool> paused{false};
  std::atomic<bool> vm_dead{false};
  bool started_with_vm = false;
  Collections collections;
  JvmCounters late_counters;  // of Counters; written once, before `collections` refers to it

  static std::atomic<AgentSession*>& current();
  // Whether a pool stays mapped because a callback did not end.
  static std::atomic<bool>& has_leaked();

 private:
  const char* map_pool(int fd);
  bool leave_all(Producer& reporter);
  void unmap_pool();
  void prepare_methods(JNIEnv* jni);
  void prepare_waits(JNIEnv* jni);
  void set_callbacks();
  void report_missing(std::string_view what, std::string_view why);
  void report_not_offered(const NotOffered& missing);

  std::atomic<std::uint32_t> all_is_on_{0};  // a futex
  UniqueFd pool_descriptor_;                 // until go_live()
  ByteBuffer left_out_;
};

// Lets a callback use the session, which exists as long as the guard. False if there is no session, if the thread is
// inside a callback already (the agent's own work in a callback makes events, which are dropped), after the thread's
// threadEnd, and while the trace is paused; the last two depend on the kind.
class CallbackGuard {
 public:
  // kOrdinary: stands alone, or begins something. kEnd: ends something that may have begun in the trace; also while
  // paused. kLifecycle: keeps the document complete (starts and ends of threads, definitions, collections); also while
  // paused and after threadEnd.
  enum Kind { kOrdinary, kEnd, kLifecycle };
  explicit CallbackGuard(Kind kind = kOrdinary);
  CallbackGuard(const CallbackGuard&) = delete;
  CallbackGuard& operator=(const CallbackGuard&) = delete;
  ~CallbackGuard();

  explicit operator bool() const { return session_ != nullptr; }
  AgentSession& session() const { return *session_; }
  Producer& producer() const { return *producer_; }

  template <class Record>
  void write(Record& made, record::RecordKind kind, bool may_block = true) const {
    producer_->write(session_->writer, made, kind, may_block);
  }

  // Releases the chunk of a thread that ends.
  static void leave_pool(Producer& producer);
  // Waits until no thread is inside a callback; AgentSession::current() must be nullptr already. False after
  // `limit_ms`.
  static bool wait_until_empty(std::uint32_t limit_ms);

 private:
  Producer* producer_;
  AgentSession* session_ = nullptr;
};

}  // namespace jtrace::agent
