// runtimeInitDone (only in JVMs started with the agent), runtimeShutdown.
#include <memory>

#include "agent/agent_session.h"
#include "agent/callbacks.h"
#include "agent/handshake.h"
#include "agent/methods/method_tracer.h"
#include "base/clock.h"
#include "trace/option_keys.h"

namespace jtrace::agent {
namespace {

// The longest time that a starting JVM waits for the callouts. It takes some milliseconds if the filters name the
// program's classes, some hundred if they include all of the JDK.
constexpr std::uint64_t kMostWait = 10 * kNanosPerSecond;

// The first callback of the live phase; before it the session is not current.
void JNICALL vm_init(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  void* storage = nullptr;
  if (jvmti->GetEnvironmentLocalStorage(&storage) != JVMTI_ERROR_NONE || storage == nullptr) return;
  if (const char* failure = bring_live(std::unique_ptr<AgentSession>(static_cast<AgentSession*>(storage)), jni))
    return complain(failure);
  CallbackGuard guard(CallbackGuard::kLifecycle);  // from here on the session belongs to the control thread
  if (!guard) return;
  AgentSession& session = session_of(guard);
  // When this returns, this thread loads the program's first class.
  if (!session.wait_until_all_is_on(kMostWait))
    session.definitions.append_option(
        trace::kLateKey, "the program began before its callouts were complete, because that took too long");
  if (!session.config.wants(record::kRuntimeInitDoneEvent)) return;
  record::ThreadRecord made{};
  made.thread = session.threads.defined(jni, thread);
  guard.write(made, record::RecordKind::kRuntimeInitDone);
}

void JNICALL vm_death(jvmtiEnv*, JNIEnv* jni) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  Recorder& recorder = guard.recorder();
  recorder.vm_dead = true;
  if (recorder.methods != nullptr) {
    recorder.methods->write_last_frees(guard);
    recorder.methods->write_counts(jni, guard);
  }
  if (recorder.config.wants(record::kRuntimeShutdownEvent)) {
    record::ThreadRecord made{};
    if (const CurrentThread thread(recorder.jvmti, jni); thread.get() != nullptr)
      made.thread = recorder.threads.defined(jni, thread.get());
    guard.write(made, record::RecordKind::kRuntimeShutdown);
  }
  recorder.writer.pool.header().agent_state.store(static_cast<std::uint32_t>(record::AgentState::kVmDead));
}

}  // namespace

void install_runtime_callbacks(EventCallbacks& callbacks) {
  callbacks.set(JVMTI_EVENT_VM_INIT, vm_init);
  callbacks.set(JVMTI_EVENT_VM_DEATH, vm_death);
}

}  // namespace jtrace::agent
