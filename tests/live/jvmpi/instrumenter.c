/* An instrumenting profiler as in JVMPI's time: it inserts a call (System.nanoTime()) at the start of each method of
 * every class that is loaded from JVM_INIT_DONE on. It does not know StackMapTable, which came eight years later.
 * Options: FILE: the number of changed classes is written there at JVM_SHUT_DOWN. FILE:drop: attributes that it does
 * not know are removed; otherwise they are copied unchanged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvmpi/jvmpi.h"

enum { INSERTED = 4 };

static JVMPI_Interface* jvmpi;
static char file[512];
static int drops, started;
static long changed;

/* The bytes that are read, and those that are written. */
struct Copy {
  const unsigned char* in;
  unsigned char* out;
  unsigned call; /* the constant of the method to call */
};

static unsigned u1(struct Copy* c) { return *c->out++ = *c->in++; }
static unsigned u2(struct Copy* c) { return u1(c) << 8 | u1(c); }
static unsigned u4(struct Copy* c) { return u2(c) << 16 | u2(c); }
static void bytes(struct Copy* c, unsigned count) {
  memcpy(c->out, c->in, count);
  c->in += count;
  c->out += count;
}
static void put(unsigned char* at, unsigned value, int size) {
  for (; size > 0; value >>= 8) at[--size] = (unsigned char)value;
}
static void moved_pc(struct Copy* c) {
  const unsigned pc = u2(c);
  put(c->out - 2, pc + INSERTED, 2);
}

static void text(struct Copy* c, const char* word) {
  *c->out++ = 1;
  put(c->out, (unsigned)strlen(word), 2);
  memcpy(c->out + 2, word, strlen(word));
  c->out += 2 + strlen(word);
}
static void pair(struct Copy* c, unsigned tag, unsigned first, unsigned second) {
  *c->out++ = (unsigned char)tag;
  put(c->out, first, 2);
  c->out += 2;
  if (second == 0) return;
  put(c->out, second, 2);
  c->out += 2;
}

/* Copies the constants and adds those of the call; sets `names` to the positions of the Utf8 constants. */
static void constants(struct Copy* c, const unsigned char** names) {
  static const unsigned char sizes[] = {0, 0, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4, 4, 2, 2};
  unsigned char* count_at = c->out;
  const unsigned count = u2(c);
  unsigned i;
  for (i = 1; i < count; i++) {
    const unsigned tag = u1(c);
    names[i] = tag == 1 ? c->in : NULL;
    bytes(c, tag == 1 ? 2u + (c->in[0] << 8 | c->in[1]) : sizes[tag]);
    if (tag == 5 || tag == 6) i++;
  }
  text(c, "java/lang/System"); /* count */
  pair(c, 7, count, 0);
  text(c, "nanoTime"); /* count + 2 */
  text(c, "()J");
  pair(c, 12, count + 2, count + 3);
  pair(c, 10, count + 1, count + 4);
  put(count_at, count + 6, 2);
  c->call = count + 5;
}

static int is(const unsigned char* name, const char* word) {
  const size_t size = (size_t)(name[0] << 8 | name[1]);
  return size == strlen(word) && memcmp(name + 2, word, size) == 0;
}

static void code_attributes(struct Copy* c, const unsigned char** names) {
  unsigned char* count_at = c->out;
  unsigned left = u2(c), kept = 0;
  for (; left > 0; left--) {
    unsigned char* start = c->out;
    const unsigned char* name = names[u2(c)];
    const unsigned size = u4(c);
    const unsigned char* end = c->in + size;
    if (is(name, "LineNumberTable")) {
      unsigned lines = u2(c);
      for (; lines > 0; lines--) moved_pc(c), u2(c);
      kept++;
    } else if (drops || is(name, "LocalVariableTable") || is(name, "LocalVariableTypeTable")) {
      c->out = start;
    } else {
      bytes(c, size);
      kept++;
    }
    c->in = end;
  }
  put(count_at, kept, 2);
}

static void code(struct Copy* c, const unsigned char** names) {
  unsigned char *size_at = c->out, *stack_at, *length_at;
  unsigned length, handlers;
  u4(c);
  stack_at = c->out;
  if (u2(c) < 2) put(stack_at, 2, 2);
  u2(c);
  length_at = c->out;
  length = u4(c);
  put(length_at, length + INSERTED, 4);
  put(c->out, 184, 1); /* invokestatic; pop2: four bytes, so that switches stay aligned */
  put(c->out + 1, c->call, 2);
  put(c->out + 3, 88, 1);
  c->out += INSERTED;
  bytes(c, length);
  for (handlers = u2(c); handlers > 0; handlers--) {
    moved_pc(c);
    moved_pc(c);
    moved_pc(c);
    u2(c);
  }
  code_attributes(c, names);
  put(size_at, (unsigned)(c->out - size_at - 4), 4);
}

static void members(struct Copy* c, const unsigned char** names) {
  unsigned left = u2(c);
  for (; left > 0; left--) {
    unsigned attributes;
    bytes(c, 6);
    for (attributes = u2(c); attributes > 0; attributes--) {
      if (is(names[u2(c)], "Code")) code(c, names);
      else bytes(c, u4(c));
    }
  }
}

static void class_hook(JVMPI_Event* event) {
  const jint size = event->u.class_load_hook.class_data_len;
  const unsigned char** names = calloc(65536, sizeof *names);
  struct Copy c;
  /* Each method has at least 30 bytes and grows by 4; the constants grow by 50. */
  unsigned char* made = event->u.class_load_hook.malloc_f((unsigned)(size + size / 4 + 100));
  c.in = event->u.class_load_hook.class_data;
  c.out = made;
  c.call = 0;
  bytes(&c, 8);
  constants(&c, names);
  bytes(&c, 6);
  bytes(&c, 2 * u2(&c));
  members(&c, names);
  members(&c, names);
  bytes(&c, (unsigned)(event->u.class_load_hook.class_data + size - c.in));
  free(names);
  event->u.class_load_hook.new_class_data = made;
  event->u.class_load_hook.new_class_data_len = (jint)(c.out - made);
  __atomic_fetch_add(&changed, 1, __ATOMIC_RELAXED);
}

static void notify(JVMPI_Event* event) {
  FILE* report;
  switch (event->event_type) {
    case JVMPI_EVENT_JVM_INIT_DONE: __atomic_store_n(&started, 1, __ATOMIC_RELEASE); break;
    case JVMPI_EVENT_CLASS_LOAD_HOOK:
      if (__atomic_load_n(&started, __ATOMIC_ACQUIRE)) class_hook(event);
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      if ((report = fopen(file, "w")) == NULL) break;
      fprintf(report, "changed=%ld\n", changed);
      fclose(report);
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* jvm, char* options, void* reserved) {
  char* mode;
  (void)reserved;
  if ((*jvm)->GetEnv(jvm, (void**)&jvmpi, JVMPI_VERSION_1) < 0) return JNI_ERR;
  snprintf(file, sizeof file, "%s", options);
  if ((mode = strchr(file, ':')) != NULL) {
    *mode++ = '\0';
    drops = strcmp(mode, "drop") == 0;
  }
  jvmpi->NotifyEvent = notify;
  jvmpi->EnableEvent(JVMPI_EVENT_CLASS_LOAD_HOOK, NULL);
  jvmpi->EnableEvent(JVMPI_EVENT_JVM_INIT_DONE, NULL);
  jvmpi->EnableEvent(JVMPI_EVENT_JVM_SHUT_DOWN, NULL);
  return JNI_OK;
}
