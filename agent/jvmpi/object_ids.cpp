#include "agent/jvmpi/object_ids.h"

#include "agent/jvm_support.h"

namespace jtrace::agent::jvmpi {

jlong ObjectIds::tag(jobject object, jlong flags, jlong* before) {
  if (before != nullptr) *before = 0;
  if (object == nullptr) return 0;
  jlong tag = 0;
  if (jvmti_->GetTag(object, &tag) != JVMTI_ERROR_NONE) return 0;
  if (tag == 0 || (tag & flags) != flags) {
    pthread_mutex_lock(&lock_);
    jvmti_->GetTag(object, &tag);
    const jlong wanted = (tag == 0 ? next_tag() : tag) | flags;
    const bool set = jvmti_->SetTag(object, wanted) == JVMTI_ERROR_NONE;
    pthread_mutex_unlock(&lock_);
    if (before != nullptr) *before = tag & kTagFlags;
    return set ? wanted : 0;
  }
  if (before != nullptr) *before = tag & kTagFlags;
  return tag;
}

void ObjectIds::clear_flags(jobject object, jlong flags) {
  pthread_mutex_lock(&lock_);
  jlong tag = 0;
  jvmti_->GetTag(object, &tag);
  if ((tag & flags) != 0) jvmti_->SetTag(object, tag & ~flags);
  pthread_mutex_unlock(&lock_);
}

jobject ObjectIds::object_of(jobjectID id) {
  if (id == nullptr) return nullptr;
  // The flags are not known: these are all tags that the id can have.
  jlong tags[kTagFlags + 1];
  for (jlong flags = 0; flags <= kTagFlags; ++flags) tags[flags] = reinterpret_cast<jlong>(id) | flags;
  jint count = 0;
  JvmtiMemory<jobject> objects(jvmti_);
  if (jvmti_->GetObjectsWithTags(kTagFlags + 1, tags, &count, objects.out(), nullptr) != JVMTI_ERROR_NONE)
    return nullptr;
  return count > 0 ? objects[0] : nullptr;
}

}  // namespace jtrace::agent::jvmpi
