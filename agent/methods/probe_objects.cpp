#include "agent/methods/probe_objects.h"

#include "agent/agent_session.h"
#include "agent/registry.h"

namespace jtrace::agent {

jlong identify_object(JNIEnv* jni, jobject object, jint) {
  CallbackGuard guard;
  if (!guard || guard.session().methods == nullptr || object == nullptr) return 0;
  return static_cast<jlong>(guard.session().registry->object_id(jni, object));
}

}  // namespace jtrace::agent
