#include "agent/lasting_environment.h"

#include <jvmti.h>

namespace jtrace::agent {

bool keep_an_environment(JavaVM* vm) {
  static void* kept = nullptr;
  return kept != nullptr || vm->GetEnv(&kept, JVMTI_VERSION_1_2) == JNI_OK;
}

}  // namespace jtrace::agent
