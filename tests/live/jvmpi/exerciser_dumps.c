/* Reads dumps to their last byte, as their formats are documented, and looks for the known objects of JvmpiZoo. */
#include <endian.h>
#include <string.h>

#include "tests/live/jvmpi/exerciser.h"

struct Cursor {
  const char *at, *end;
  int failed;
};

static void take(struct Cursor* from, void* to, size_t size) {
  memset(to, 0, size);
  if (from->failed || (size_t)(from->end - from->at) < size) {
    from->failed = 1;
    return;
  }
  memcpy(to, from->at, size);
  from->at += size;
}
static unsigned u1(struct Cursor* from) {
  unsigned char value;
  take(from, &value, 1);
  return value;
}
static unsigned u2(struct Cursor* from) {
  unsigned short value;
  take(from, &value, 2);
  return be16toh(value);
}
static unsigned u4(struct Cursor* from) {
  unsigned value;
  take(from, &value, 4);
  return be32toh(value);
}
static unsigned long u8(struct Cursor* from) {
  unsigned long value;
  take(from, &value, 8);
  return be64toh(value);
}
static void* id(struct Cursor* from) {
  void* value;
  take(from, &value, sizeof value);
  return value;
}
static void skip(struct Cursor* from, size_t size) {
  if ((size_t)(from->end - from->at) < size) from->failed = 1;
  else from->at += size;
}

static size_t size_of(unsigned type) {
  switch (type) {
    case JVMPI_BOOLEAN:
    case JVMPI_BYTE: return 1;
    case JVMPI_CHAR:
    case JVMPI_SHORT: return 2;
    case JVMPI_INT:
    case JVMPI_FLOAT: return 4;
    case JVMPI_LONG:
    case JVMPI_DOUBLE: return 8;
    default: return sizeof(void*);
  }
}
static unsigned type_of(char signature) {
  static const char letters[] = "ZCFDBSIJ";
  const char* at = strchr(letters, signature);
  return at == NULL || signature == 0 ? JVMPI_CLASS : (unsigned)(JVMPI_BOOLEAN + (at - letters));
}

static jobjectID animal, animal_class, sizes_array, friends_array;
jobjectID dumped_animal(void) { return animal; }

static struct {
  long objects, roots, classes, instances, arrays, primitive_arrays;
  long unknown; /* objects that had no OBJECT_ALLOC */
  int animal_fine, statics_fine, sizes_fine, friends_fine, class_fine;
} seen;

/* An instance: Animal's own fields, then those of Base. */
static void read_instance(struct Cursor* from, jint level) {
  jobjectID object = id(from);
  jobjectID klass = id(from);
  size_t size = u4(from);
  struct Cursor values = {from->at, from->at + size, 0};
  skip(from, size);
  seen.instances++;
  if (!object_is_known(object)) seen.unknown++;
  if (klass != animal_class || animal_class == NULL || from->failed) return;
  animal = object;
  if (level == JVMPI_DUMP_LEVEL_2) {
    unsigned legs = u4(&values);
    unsigned long weight = u8(&values);
    void* name = id(&values);
    sizes_array = id(&values);
    friends_array = id(&values);
    seen.animal_fine = legs == 0x01020304 && weight == 0x3ff8000000000000ul && name != NULL &&
                       u4(&values) == 0x0badcafe && id(&values) == (void*)object && values.at == values.end &&
                       !values.failed;
  } else {
    skip(&values, sizeof(void*)); /* name */
    sizes_array = id(&values);
    friends_array = id(&values);
    seen.animal_fine = id(&values) == (void*)object && values.at == values.end && !values.failed;
  }
}

static void read_class(struct Cursor* from, jint level) {
  jobjectID klass = id(from);
  jobjectID super = id(from);
  struct ClassFacts* facts = find_class(klass);
  unsigned i, constants, size;
  seen.classes++;
  if (facts == NULL) {
    from->failed = 1; /* CLASS_LOAD comes before */
    return;
  }
  skip(from, 5 * sizeof(void*));
  size = u4(from);
  skip(from, (size_t)facts->interfaces * sizeof(void*));
  constants = u2(from);
  for (i = 0; i < constants && !from->failed; i++) {
    u2(from);
    skip(from, size_of(u1(from)));
  }
  if (klass == animal_class) {
    struct ClassFacts* base = find_class_named("JvmpiZoo$Base");
    unsigned long population = level == JVMPI_DUMP_LEVEL_2 ? u8(from) : 0;
    void* first = id(from);
    unsigned flags = level == JVMPI_DUMP_LEVEL_2 ? u1(from) : 0;
    seen.class_fine = base != NULL && base->id == super && size >= 40 && facts->interfaces == 1;
    seen.statics_fine =
        first != NULL && (level != JVMPI_DUMP_LEVEL_2 || (population == 0x1122334455667788ul && flags == 0x5a));
    return;
  }
  for (i = 0; i < (unsigned)facts->statics; i++) {
    unsigned type = type_of(facts->static_types[i]);
    if (level == JVMPI_DUMP_LEVEL_2 || type == JVMPI_CLASS) skip(from, size_of(type));
  }
}

static void read_object_array(struct Cursor* from) {
  jobjectID array = id(from);
  unsigned count = u4(from);
  void* class_of_elements = id(from);
  seen.arrays++;
  if (!object_is_known(array)) seen.unknown++;
  if (array == friends_array && friends_array != NULL && count == 3) {
    void *first = id(from), *second = id(from), *third = id(from);
    seen.friends_fine = class_of_elements != NULL && first == NULL && second == (void*)animal && third == NULL;
    return;
  }
  skip(from, (size_t)count * sizeof(void*));
}

static void read_primitive_array(struct Cursor* from, jint level) {
  jobjectID array = id(from);
  unsigned count = u4(from);
  unsigned type = u1(from);
  seen.primitive_arrays++;
  if (!object_is_known(array)) seen.unknown++;
  if (array == sizes_array && sizes_array != NULL) {
    seen.sizes_fine = count == 3 && type == JVMPI_SHORT;
    if (level == JVMPI_DUMP_LEVEL_2) seen.sizes_fine &= u2(from) == 0x0102 && u2(from) == 0x0304 && u2(from) == 0x0506;
    return;
  }
  if (level == JVMPI_DUMP_LEVEL_2) skip(from, count * size_of(type));
}

static void read_record(struct Cursor* from, jint level) {
  const unsigned kind = u1(from);
  seen.objects++;
  switch (kind) {
    case JVMPI_GC_CLASS_DUMP: read_class(from, level); return;
    case JVMPI_GC_INSTANCE_DUMP: read_instance(from, level); return;
    case JVMPI_GC_OBJ_ARRAY_DUMP: read_object_array(from); return;
    case JVMPI_GC_PRIM_ARRAY_DUMP: read_primitive_array(from, level); return;
    case JVMPI_GC_ROOT_JNI_GLOBAL:
    case JVMPI_GC_ROOT_NATIVE_STACK:
    case JVMPI_GC_ROOT_THREAD_BLOCK: skip(from, 2 * sizeof(void*)); break;
    case JVMPI_GC_ROOT_JNI_LOCAL:
    case JVMPI_GC_ROOT_JAVA_FRAME: skip(from, 2 * sizeof(void*) + 4); break;
    case JVMPI_GC_ROOT_STICKY_CLASS:
    case JVMPI_GC_ROOT_MONITOR_USED:
    case JVMPI_GC_ROOT_UNKNOWN: skip(from, sizeof(void*)); break;
    default: from->failed = 1;
  }
  seen.roots++;
}

void heap_dumped(JVMPI_Event* event) {
  struct Cursor from = {event->u.heap_dump.begin, event->u.heap_dump.end, 0};
  const int level = event->u.heap_dump.dump_level;
  const struct ClassFacts* klass = find_class_named("JvmpiZoo$Animal");
  int round;
  animal_class = klass == NULL ? NULL : klass->id;
  /* The second round knows the ids of the animal's arrays, whatever the order of the records. */
  for (round = 0; round < (level == JVMPI_DUMP_LEVEL_0 ? 1 : 2); round++) {
    memset(&seen, 0, sizeof seen);
    from.at = event->u.heap_dump.begin;
    while (from.at < from.end && !from.failed) {
      if (level != JVMPI_DUMP_LEVEL_0) {
        read_record(&from, level);
        continue;
      }
      unsigned type = u1(&from);
      if (type > JVMPI_LONG || id(&from) == NULL) from.failed = 1;
      seen.objects++;
    }
  }
  say("heap%d.readable=%d", level, !from.failed);
  say("heap%d.objects=%ld", level, seen.objects - seen.roots);
  if (level == JVMPI_DUMP_LEVEL_0) {
    say("heap0.traces=%d", (int)event->u.heap_dump.num_traces);
    return;
  }
  say("heap%d.unknown=%ld", level, seen.unknown);
  say("heap%d.roots=%ld", level, seen.roots);
  say("heap%d.classes=%ld", level, seen.classes);
  say("heap%d.traces=%d", level, event->u.heap_dump.num_traces > 0);
  say("heap%d.known=%d%d%d%d%d", level, seen.animal_fine, seen.class_fine, seen.statics_fine, seen.sizes_fine,
      seen.friends_fine);
}

void object_dumped(JVMPI_Event* event) {
  struct Cursor from = {event->u.object_dump.data, event->u.object_dump.data + event->u.object_dump.data_len, 0};
  memset(&seen, 0, sizeof seen);
  read_record(&from, JVMPI_DUMP_LEVEL_2);
  say("object.readable=%d", !from.failed && from.at == from.end);
  say("object.known=%d", seen.animal_fine);
}

static unsigned read_threads(struct Cursor* from) {
  unsigned i, count = u4(from);
  for (i = 0; i < count && !from->failed; i++)
    if (id(from) == NULL) from->failed = 1;
  return count;
}

void monitors_dumped(JVMPI_Event* event) {
  struct Cursor from = {event->u.monitor_dump.begin, event->u.monitor_dump.end, 0};
  int raw = 0, held = 0, i, waiting = 0;
  while (from.at < from.end && !from.failed) {
    const unsigned kind = u1(&from);
    void* owner;
    unsigned entries, enter, notify;
    if (kind == JVMPI_MONITOR_RAW) {
      const char* name = id(&from);
      raw += name != NULL && strcmp(name, "_exerciser") == 0;
    } else if (kind != JVMPI_MONITOR_JAVA) {
      from.failed = 1;
    }
    id(&from);
    owner = id(&from);
    entries = u4(&from);
    enter = read_threads(&from);
    notify = read_threads(&from);
    held += kind == JVMPI_MONITOR_JAVA && owner == (void*)main_thread() && entries == 1 && enter == 1 && notify == 1;
  }
  for (i = 0; i < event->u.monitor_dump.num_traces; i++)
    waiting += (event->u.monitor_dump.threads_status[i] & 3) == JVMPI_THREAD_MONITOR_WAIT &&
               event->u.monitor_dump.traces[i].num_frames > 0;
  say("monitors.readable=%d", !from.failed);
  say("monitors.raw=%d", raw);
  say("monitors.held=%d", held);
  say("monitors.waiting=%d", waiting);
}
