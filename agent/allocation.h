// Writes objAlloc, from a sampled event or from a callout.
#pragma once

#include "agent/callback_guard.h"

namespace jtrace::agent {

// Gives the object its id and writes the record; the caller has set its thread, size, stack and site. Does nothing if
// the object has an id already. An object that cannot be defined is counted as dropped.
inline void write_allocation(const CallbackGuard& guard, jobject object, const TypeOfObject& type,
                             record::ObjAllocRecord& made) {
  if (!type.known || made.thread == 0) return guard.recorder().writer.count_dropped(1);
  made.object = guard.recorder().registry->new_object_id(object);
  if (made.object == 0) return;
  made.header.flags = type.is_array;
  made.class_id = type.class_id;
  guard.write(made, record::RecordKind::kObjAlloc);
}

}  // namespace jtrace::agent
