// runtimeInitDone (JVMs started with the agent only), runtimeShutdown.
#include "agent/callbacks.h"
#include "agent/handshake.h"
#include "agent/methods/method_tracer.h"
#include "base/clock.h"
#include "trace/option_keys.h"

namespace jtrace::agent {
namespace {

// A JVM that starts waits no longer than this for the probes; it takes some milliseconds where the filters name the
// program's classes, some hundred where they let all of the JDK's through.
constexpr std::uint64_t kMostWait = 10 * kNanosPerSecond;

// Before this the session is not current: the first thing that happens in the live phase.
void JNICALL vm_init(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  void* storage = nullptr;
  if (jvmti->GetEnvironmentLocalStorage(&storage) != JVMTI_ERROR_NONE || storage == nullptr) return;
  auto* starting = static_cast<AgentSession*>(storage);
  if (const char* failure = starting->go_live(jni)) {
    complain(failure);
    return abandon_session(*starting, failure);
  }
  CallbackGuard guard(CallbackGuard::kLifecycle);  // from here on the session is the control thread's
  if (!guard) return;
  AgentSession& session = guard.session();
  // The program's own first class is loaded by this thread when it returns.
  if (!session.wait_until_all_is_on(kMostWait))
    session.write_option(trace::kLateKey, "the program began before its probes were in, for that took too long");
  if (!session.config.wants(record::kRuntimeInitDoneEvent)) return;
  record::ThreadRecord made{};
  made.thread = session.thread_id(jni, thread);
  guard.write(made, record::RecordKind::kRuntimeInitDone);
}

void JNICALL vm_death(jvmtiEnv*, JNIEnv* jni) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  AgentSession& session = guard.session();
  session.vm_dead = true;
  if (session.methods != nullptr) {
    session.methods->write_last_frees(guard);
    session.methods->write_counts(jni, guard);
  }
  if (session.config.wants(record::kRuntimeShutdownEvent)) {
    record::ThreadRecord made{};
    if (const CurrentThread thread(session.jvmti, jni); thread.get() != nullptr)
      made.thread = session.thread_id(jni, thread.get());
    guard.write(made, record::RecordKind::kRuntimeShutdown);
  }
  session.writer.pool.header().agent_state.store(static_cast<std::uint32_t>(record::AgentState::kVmDead));
}

}  // namespace

void install_runtime_callbacks(EventCallbacks& callbacks) {
  callbacks.set(JVMTI_EVENT_VM_INIT, vm_init);
  callbacks.set(JVMTI_EVENT_VM_DEATH, vm_death);
}

}  // namespace jtrace::agent
