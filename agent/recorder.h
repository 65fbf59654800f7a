// Recorder: what callbacks and natives need to write events: what was asked for, where records and definitions go, and
// the ids of threads, classes, methods and objects. They know nothing else of a session. AgentSession, above them,
// fills it, and has the rest: the control socket, the thread, the mapping.
//
// Threads: as each part says. Set before a CallbackGuard can return it, except the flags.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "agent/config.h"
#include "agent/definition_stream.h"
#include "agent/producer.h"
#include "agent/registry.h"
#include "agent/stack_looks.h"
#include "agent/thread_ids.h"

namespace jtrace::agent {

class MethodTracer;
class WaitTracer;

struct Recorder {
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Whether any of these events (EventBit) was asked for, and is possible in this JVM.
  bool traces(std::uint64_t events) const { return (granted_events & events) != 0; }

  jvmtiEnv* jvmti = nullptr;
  Config config;                     // what was asked for
  std::uint64_t granted_events = 0;  // EventBit: what of it is possible
  PoolWriter writer;
  DefinitionStream definitions{writer};
  ThreadIds threads{definitions, writer};
  StackLooks looks;
  std::unique_ptr<Registry> registry;
  std::atomic<bool> paused{false};
  std::atomic<bool> vm_dead{false};  // the JVM is ending
  // The folders above, each for its own natives; null if the trace does not need it.
  MethodTracer* methods = nullptr;
  WaitTracer* waits = nullptr;
  // With --slower-than: the calling thread begins to wait for a monitor, or has it (methods/open_calls.h). Null: the
  // trace does not need it.
  void (*note_monitor_wait)(Recorder&, JNIEnv*, jthread, std::uint64_t thread, bool is_over) = nullptr;

 protected:  // there is none without its session
  Recorder() = default;
  ~Recorder() = default;
};

}  // namespace jtrace::agent
