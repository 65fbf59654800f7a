#include "agent/jvm_fitness.h"

#include "agent/jvm_support.h"

namespace jtrace::agent {
namespace {

// HotSpot's properties, which are there from the first moment on (JVM TI, GetSystemProperty); others may lack them.
bool has_property(jvmtiEnv* jvmti, const char* name, JvmtiText& value) {
  return jvmti->GetSystemProperty(name, value.out()) == JVMTI_ERROR_NONE && value.get() != nullptr;
}

}  // namespace

int major_version(jvmtiEnv* jvmti) {
  jint version = 0;
  jvmti->GetVersionNumber(&version);
  const int major = (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR;
  return major < 9 ? 8 : major;
}

const char* unfit_jvm(jvmtiEnv* jvmti) {
  JvmtiText name(jvmti);
  if (has_property(jvmti, "java.vm.name", name) && name.view().find("J9") != std::string_view::npos)
    return "this JVM is OpenJ9; only HotSpot can be traced";
  // "1.7" and before; "1.8", and from JDK 9 on the number alone.
  JvmtiText version(jvmti);
  if (has_property(jvmti, "java.vm.specification.version", version) && version.view().starts_with("1.") &&
      version.view() != "1.8")
    return "this JVM is older than JDK 8, the first that can be traced";
  return nullptr;
}

std::string_view why_not_offered(unsigned capability, jvmtiEnv* jvmti, bool live) {
  if (capability == kCanGenerateSampledObjectAllocEvents) {
    // HotSpot gives it to one agent at a time (jvmtiManageCapabilities.cpp, init_always_solo_capabilities).
    return major_version(jvmti) < 11 ? "JDK 11 and later have it" : "another agent holds it";
  }
  if (capability == kCanSupportVirtualThreads && major_version(jvmti) < 21) return "JDK 21 and later have it";
  return live ? "this JVM offers it only at its start: start it with -agentpath" : "this JVM does not have it";
}

}  // namespace jtrace::agent
