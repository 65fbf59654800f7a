// AgentSession: one tracing inside one JVM, from Start to Detached.
//
// A library has at most one at a time. Callbacks reach it through CallbackGuard, which ensures that no thread is inside
// a callback when the session is destroyed. The session owns its JVM TI environment (and with it all tags and
// capabilities), the mapping of the pool and the control socket.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "agent/byte_buffer.h"
#include "agent/config.h"
#include "agent/definition_stream.h"
#include "agent/jvm_support.h"
#include "agent/producer.h"
#include "agent/stack_looks.h"
#include "base/unique_fd.h"

namespace jtrace::agent {

class MethodTracer;
class Registry;
class WaitTracer;

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

  // A threadId for `thread`, which must be the calling thread, defined in the trace. 0 if it cannot be defined.
  std::uint64_t thread_id(JNIEnv* jni, jthread thread) { return thread_id(jni, thread, false); }
  // The same for another thread.
  std::uint64_t other_thread_id(JNIEnv* jni, jthread thread) { return thread_id(jni, thread, true); }
  // Defines a virtual thread by its id alone.
  bool define_by_id(std::uint64_t id);
  // Whether the thread is defined already.
  bool has_defined(std::uint64_t id) const {
    return known_threads_[id % kKnownThreads].load(std::memory_order_acquire) == id;
  }
  // The same for the calling VM-internal thread, which has no java.lang.Thread.
  std::uint64_t vm_thread_id(Producer& producer);
  // Events that found no room, or whose definition found none.
  void count_dropped(std::uint64_t events) {
    writer.pool.header().dropped_events.fetch_add(events, std::memory_order_relaxed);
  }
  bool is_virtual(JNIEnv* jni, jobject thread) const {
    return virtual_thread_class != nullptr && jni->IsInstanceOf(thread, virtual_thread_class) != JNI_FALSE;
  }
  // What the session's own thread is doing: for the report about a JVM that died.
  void note_work(record::AgentWork work) {
    writer.pool.header().agent_work.store(static_cast<std::uint32_t>(work), std::memory_order_relaxed);
  }
  bool is_own_thread(std::uint64_t thread) const { return thread == own_thread_id; }
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
  StackLooks looks;
  std::unique_ptr<Registry> registry;
  std::unique_ptr<MethodTracer> methods;  // if probes are wanted and possible
  std::unique_ptr<WaitTracer> waits;      // if sleeps or parks are wanted and possible
  std::uint64_t pool_size = 0;
  std::uint64_t granted_events = 0;  // EventBit
  std::uint64_t own_thread_id = ~0ull;
  jthread own_thread = nullptr;           // global reference, until the control thread runs
  jclass thread_class = nullptr;          // global reference to java.lang.Thread
  jclass virtual_thread_class = nullptr;  // global reference to BaseVirtualThread, if there is one
  jclass string_class = nullptr;          // global reference to java.lang.String
  jfieldID thread_tid = nullptr;          // Thread.tid, a long in every JDK (java/lang/Thread.java, 8 to 27)
  std::atomic<bool> paused{false};
  std::atomic<bool> vm_dead{false};
  bool started_with_vm = false;
  std::atomic<std::uint32_t> gc_number{0};
  // Open pairs of JVM TI's events: G1 posts one pair within another if a full Metaspace is the cause.
  std::atomic<std::uint32_t> gc_depth{0};
  std::atomic<bool> gc_start_written{false};     // of the outermost pair: not if the trace was paused then
  std::atomic<std::uint32_t> figures_wanted{0};  // last collection whose figures are to be read
  std::uint64_t gc_thread = 0;

  static std::atomic<AgentSession*>& current();
  // Whether a pool stays mapped because a callback did not end.
  static std::atomic<bool>& has_leaked();

 private:
  const char* map_pool(int fd);
  bool leave_all(Producer& reporter);
  void unmap_pool();
  void prepare_methods(JNIEnv* jni);
  void prepare_waits(JNIEnv* jni);
  std::uint64_t thread_id(JNIEnv* jni, jthread thread, bool ran_before);
  const char* take_capabilities();
  void set_callbacks();
  void switch_events(bool on);
  void report_missing(std::string_view what, std::string_view why);
  void report_not_offered(std::string_view what, unsigned capability, std::string_view name);
  bool define_thread(JNIEnv* jni, jthread thread, std::uint64_t id, bool ran_before);
  void backfill_threads(JNIEnv* jni);
  const char* make_own_thread(JNIEnv* jni);

  std::atomic<std::uint32_t> all_is_on_{0};  // a futex
  UniqueFd pool_descriptor_;                 // until go_live()
  ByteBuffer left_out_;

  // threadIds defined already, direct mapped. An evicted one is defined again, which the drainer expects.
  static constexpr std::uint32_t kKnownThreads = 16384;
  std::atomic<std::uint64_t> known_threads_[kKnownThreads] = {};
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
