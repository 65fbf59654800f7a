#include "agent/methods/retransformer.h"

#include <stdio.h>

#include "agent/methods/class_numbers.h"
#include "agent/methods/pool_room.h"
#include "agent/methods/rewrite_results.h"
#include "agent/registry.h"

namespace jtrace::agent {

void Retransformer::prepare() { measures_pools_ = !checks_pool_room(jvmti_); }

bool Retransformer::is_modifiable(jclass klass) const {
  jboolean modifiable = JNI_FALSE;
  return jvmti_->IsModifiableClass(klass, &modifiable) == JVMTI_ERROR_NONE && modifiable != JNI_FALSE;
}

bool Retransformer::has_callouts(jclass klass) const {
  jlong tag = 0;
  jvmti_->GetTag(klass, &tag);
  return (tag & kTagIsClass) != 0 && numbers_.has_callouts(id_of_tag(tag));
}

void Retransformer::set_callouts(jclass klass, bool has) {
  jlong tag = 0;
  jvmti_->GetTag(klass, &tag);
  numbers_.set_callouts(id_of_tag(tag), has);
}

void Retransformer::note(jclass klass, const char* why) {
  JvmtiText signature(jvmti_);
  jvmti_->GetClassSignature(klass, signature.out(), nullptr);
  results_.note(internal_name(signature.view()), "", why);
}

// Moves the classes that the JVM can retransform once more to the front. Returns how many.
jint Retransformer::with_room(jclass* classes, jint count, Purpose purpose) {
  if (!measures_pools_) return count;
  jint kept = 0;
  for (jint i = 0; i < count; ++i) {
    const bool restores = purpose == Purpose::kRemove || has_callouts(classes[i]);
    if (restores ? has_room_to_restore(jvmti_, classes[i]) : has_pool_room(jvmti_, classes[i])) {
      classes[kept++] = classes[i];
      continue;
    }
    results_.add_refused();
    note(classes[i], "it was rewritten so often that its constant pool has no room left (JDK-8311076)");
  }
  return kept;
}

// If the JVM refuses one class, the whole batch fails. Then they are tried one by one.
void Retransformer::retransform(jclass* classes, jint count, Purpose purpose) {
  count = with_room(classes, count, purpose);
  if (count == 0) return;
  if (jvmti_->RetransformClasses(count, classes) == JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    const jvmtiError error = jvmti_->RetransformClasses(1, &classes[i]);
    if (error == JVMTI_ERROR_NONE) continue;
    results_.add_refused();
    if (purpose == Purpose::kRemove) continue;
    char why[64];
    snprintf(why, sizeof why, "the JVM refused it (JVM TI error %d)", static_cast<int>(error));
    note(classes[i], why);
  }
}

}  // namespace jtrace::agent
