// AgentSession: one tracing inside one JVM, from Start to Detached.
//
// A library has at most one at a time. The session owns its JVM TI environment (and with it all tags and capabilities),
// the mapping of the pool and the control socket. Callbacks reach it through CallbackGuard, which ensures that no
// thread is inside a callback when the session is destroyed; they see the Recorder, except those few in agent/ that
// need the session (session_of()). No folder of agent/ includes this file.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "agent/byte_buffer.h"
#include "agent/callback_guard.h"
#include "agent/recorder.h"
#include "agent/wakeup.h"
#include "base/unique_fd.h"

namespace jtrace::agent {

struct NotOffered;

// The collections of the trace, for the callbacks of their events and for the thread that reads their figures.
struct Collections {
  std::atomic<std::uint32_t> number{0};  // of the last one
  // Open pairs of JVM TI's events: G1 posts one pair within another if a full Metaspace is the cause.
  std::atomic<std::uint32_t> depth{0};
  std::atomic<bool> start_written{false};        // of the outermost pair: not if the trace was paused then
  std::atomic<std::uint32_t> figures_wanted{0};  // last collection whose figures are to be read
  // The counters that are read at both ends of a pause. Null: those of Start; later those of Counters.
  std::atomic<const record::CountersFields*> counters{nullptr};
  // Of the open one, for the thread that ends it too: pauses do not overlap.
  std::atomic<const record::CountersFields*> noted_by{nullptr};  // what the next two were read from
  std::array<std::atomic<std::uint64_t>, kMaxCollectors> invocations{};
  std::atomic<std::uint64_t> used_before{0};
};

class AgentSession : public Recorder {
 public:
  AgentSession(JavaVM* java_vm, UniqueFd socket);
  ~AgentSession();

  // Maps the pool, makes the JVM TI environment, takes the capabilities that the events need and sets the callbacks. In
  // the live phase it also switches the events on; before it, vm_init() does. Returns nullptr, or the reason for the
  // failure (static text).
  const char* start(UniqueFd pool, bool live);
  // Switches events on, defines existing threads. In the live phase; afterwards bring_live() starts the control thread.
  const char* go_live(JNIEnv* jni);
  // Called by the control thread when every event that was asked for is on and the loaded classes have their callouts;
  // or when that can no longer happen.
  void announce_all_is_on();
  // Waits for that; false after `limit_ns`. For a thread inside a callback.
  bool wait_until_all_is_on(std::uint64_t limit_ns) const;
  // Switches events off, waits until no callback is running, disposes of environment and pool. On the control thread.
  void stop(JNIEnv* jni);

  // The events that were asked for and are not possible in this JVM, with the reasons; "" if there are none.
  std::string_view left_out() const { return left_out_.view(); }

  JavaVM* vm;
  UniqueFd control;
  Wakeup wakeup;
  std::uint64_t pool_size = 0;
  bool started_with_vm = false;
  Collections collections;
  const record::CountersFields& counters() const {
    const record::CountersFields* late = collections.counters.load(std::memory_order_acquire);
    return late != nullptr ? *late : config.counters;
  }
  record::CountersFields late_counters;  // of Counters; written once, before `collections` refers to it

  // Whether a pool stays mapped because a callback did not end.
  static std::atomic<bool>& has_leaked();

 private:
  const char* map_pool(int fd);
  bool leave_all(Producer& reporter);
  void unmap_pool();
  void prepare_methods(JNIEnv* jni);
  void drop_methods();
  void prepare_waits(JNIEnv* jni);
  void drop_waits();
  void set_callbacks();
  void report_missing(std::string_view what, std::string_view why);
  void report_late_samples();
  void report_jdk();
  void report_not_offered(const NotOffered& missing);

  std::unique_ptr<MethodTracer> method_tracer_;  // what `methods` and `waits` point to
  std::unique_ptr<WaitTracer> wait_tracer_;
  std::atomic<std::uint32_t> all_is_on_{0};  // a futex
  UniqueFd pool_descriptor_;                 // until go_live()
  ByteBuffer left_out_;
};

// The session whose recorder the guard returns: there is no other recorder.
inline AgentSession& session_of(const CallbackGuard& guard) { return static_cast<AgentSession&>(guard.recorder()); }

}  // namespace jtrace::agent
