// The entry points of the library. Nothing else is exported (agent.map).
#include <jni.h>
#include <jvmti.h>
#include <unistd.h>

#include <memory>
#include <string_view>
#include <utility>

#include "agent/agent_session.h"
#include "agent/control_socket.h"
#include "agent/handshake.h"
#include "agent/startup.h"

namespace jtrace::agent {
namespace {

// Results of Agent_OnAttach, which the JVM passes on to jtrace. If there was a dialogue over the control socket, the
// result is 0 and jtrace has the details from there.
enum AttachResult : jint { kDone = 0, kBadOptions = 1, kCannotConnect = 2 };

// A JVM that is starting takes commands before it gives environments of JVM TI. This is the thread that serves them:
// the start does not wait for it.
void wait_until_up(JavaVM* vm) {
  constexpr int kLimitMs = 2000, kStepMs = 5;
  for (int waited = 0; waited < kLimitMs; waited += kStepMs) {
    void* env = nullptr;
    const jint given = vm->GetEnv(&env, JVMTI_VERSION_1_2);
    if (given == JNI_OK) static_cast<jvmtiEnv*>(env)->DisposeEnvironment();
    if (given != JNI_EDETACHED) return;
    usleep(kStepMs * 1000);
  }
}

jint attach(JavaVM* vm, std::string_view options) {
  char path[128];
  if (!option_value(options, "connect", path, sizeof path)) return kBadOptions;
  UniqueFd control = connect_to(path);
  if (!control) return kCannotConnect;
  wait_until_up(vm);
  Reason error;
  std::unique_ptr<AgentSession> session = begin_session(vm, static_cast<UniqueFd&&>(control), true, "", error);
  if (session == nullptr) return kDone;
  void* jni = nullptr;
  if (vm->GetEnv(&jni, JNI_VERSION_1_6) == JNI_OK) bring_live(std::move(session), static_cast<JNIEnv*>(jni));
  else abandon_session(std::move(session), "the attaching thread is unknown to the JVM");
  return kDone;
}

bool load(JavaVM* vm, std::string_view options) {
  Reason error;
  int child = -1;
  UniqueFd control = start_child(options, child, error);
  std::unique_ptr<AgentSession> session;
  if (control) {
    session = begin_session(vm, static_cast<UniqueFd&&>(control), false, options, error);
    reap_child(child);
  }
  if (session == nullptr) complain(error.text);
  return session.release() != nullptr;  // the callback of VMInit takes it
}

}  // namespace
}  // namespace jtrace::agent

#define JTRACE_EXPORT extern "C" __attribute__((visibility("default")))

JTRACE_EXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  const std::string_view text = options == nullptr ? "" : options;
  if (jtrace::agent::load(vm, text)) return JNI_OK;
  char value[8];
  const bool strict = jtrace::agent::option_value(text, "strict", value, sizeof value) &&
                      (value[0] == '\0' || std::string_view(value) == "true");
  return strict ? JNI_ERR : JNI_OK;
}

JTRACE_EXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  return jtrace::agent::attach(vm, options == nullptr ? "" : options);
}

// The library is pinned (-z nodelete): callbacks may still be in their last instructions when the JVM unloads agents.
JTRACE_EXPORT void JNICALL Agent_OnUnload(JavaVM*) {}
