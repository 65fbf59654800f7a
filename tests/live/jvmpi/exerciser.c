/* A JVMPI profiler that uses every event and every function of the interface and writes a report, for jvmpi_test.cpp.
 * Options: REPORT[:NUMBER...]: the report's file, then the events to enable. At the start of a thread "jvmpi:NAME"
 * (tests/apps/JvmpiZoo.java) it calls the function do_NAME. The report has "key=value" lines and is written at
 * JVM_SHUT_DOWN. */
#include "tests/live/jvmpi/exerciser.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/live/jvmpi/id_set.h"

JVMPI_Interface* jvmpi;
static FILE* report;
static JVMPI_RawMonitor lock; /* over all that follows */

static long counts[JVMPI_MAX_EVENT_TYPE_VAL + 1];
static long requested[JVMPI_MAX_EVENT_TYPE_VAL + 1];
static long free_outside, unknown_classes, unknown_frees, unknown_threads, entered_exits;
static int in_collection;

/* --- the report ------------------------------------------------------------------------------------------------- */

static char said[1 << 16];
static size_t said_size;

void say(const char* format, ...) {
  va_list words;
  va_start(words, format);
  if (said_size + 256 < sizeof said) {
    said_size += (size_t)vsnprintf(said + said_size, 250, format, words);
    said[said_size++] = '\n';
  }
  va_end(words);
}

/* --- tables: ids and what is known of them ------------------------------------------------------------------------ */

static struct ClassFacts* classes[1 << 14];

static size_t place(const void* id) { return ((size_t)id >> 3) * 2654435761u % (sizeof classes / sizeof classes[0]); }

struct ClassFacts* find_class(jobjectID id) {
  struct ClassFacts* each = classes[place(id)];
  while (each != NULL && each->id != id) each = each->next;
  return each;
}

struct ClassFacts* find_class_named(const char* name) {
  size_t i;
  for (i = 0; i < sizeof classes / sizeof classes[0]; i++) {
    struct ClassFacts* each = classes[i];
    for (; each != NULL; each = each->next)
      if (strcmp(each->name, name) == 0) return each;
  }
  return NULL;
}

struct Counted {
  jmethodID id;
  char name[64];
  long entries, exits, receivers;
  struct Counted* next;
};
static struct Counted* counted[256];

static struct Counted* find_counted(jmethodID id) {
  struct Counted* each = counted[(size_t)id >> 4 & 255];
  while (each != NULL && each->id != id) each = each->next;
  return each;
}

static void remember_class(JVMPI_Event* event) {
  struct ClassFacts* made = calloc(1, sizeof *made);
  int i;
  made->id = event->u.class_load.class_id;
  made->name = strdup(event->u.class_load.class_name);
  made->interfaces = event->u.class_load.num_interfaces;
  made->statics = event->u.class_load.num_static_fields;
  made->static_types = calloc((size_t)made->statics + 1, 1);
  for (i = 0; i < made->statics; i++) made->static_types[i] = event->u.class_load.statics[i].field_signature[0];
  made->next = classes[place(made->id)];
  classes[place(made->id)] = made;
  if (strncmp(made->name, "JvmpiZoo", 8) != 0) return;
  for (i = 0; i < event->u.class_load.num_methods; i++) {
    const JVMPI_Method* method = &event->u.class_load.methods[i];
    struct Counted* entry = calloc(1, sizeof *entry);
    entry->id = method->method_id;
    snprintf(entry->name, sizeof entry->name, "%s.%s", made->name, method->method_name);
    entry->next = counted[(size_t)entry->id >> 4 & 255];
    counted[(size_t)entry->id >> 4 & 255] = entry;
  }
}

/* --- methods ------------------------------------------------------------------------------------------------------ */

/* Needs no lock: each thread has its own methods here. */
static void count_method(jmethodID id, int entry, int receiver) {
  struct Counted* each = find_counted(id);
  if (each == NULL) return;
  __atomic_fetch_add(entry ? &each->entries : &each->exits, 1, __ATOMIC_RELAXED);
  if (receiver) __atomic_fetch_add(&each->receivers, 1, __ATOMIC_RELAXED);
}

static void report_methods(void) {
  size_t i;
  for (i = 0; i < 256; i++) {
    struct Counted* each = counted[i];
    for (; each != NULL; each = each->next)
      if (each->entries + each->exits > 0)
        say("method.%s=%ld/%ld/%ld", each->name, each->entries, each->exits, each->receivers);
  }
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static char thread_name[64];
static JNIEnv *main_env, *enterer_env;
static int enterer_waits;
static JNIEnv* ending[kEnding];
static unsigned next_ending;

JNIEnv* main_thread(void) { return main_env; }
JNIEnv* ending_thread(int i) { return __atomic_load_n(&ending[i], __ATOMIC_ACQUIRE); }
int enterer_is_waiting(void) { return __atomic_load_n(&enterer_waits, __ATOMIC_ACQUIRE); }

static void thread_started(JVMPI_Event* event, int is_requested) {
  const char* name = event->u.thread_start.thread_name;
  if (is_requested) {
    snprintf(thread_name, sizeof thread_name, "%s", name);
    return;
  }
  if (strcmp(name, "main") == 0) main_env = event->u.thread_start.thread_env_id;
  if (strcmp(name, "zoo-enterer") == 0) enterer_env = event->u.thread_start.thread_env_id;
  if (strncmp(name, "ending-", 7) == 0) {
    const unsigned at = __atomic_fetch_add(&next_ending, 1, __ATOMIC_RELAXED) % kEnding;
    __atomic_store_n(&ending[at], event->u.thread_start.thread_env_id, __ATOMIC_RELEASE);
  }
  if (strncmp(name, "jvmpi:", 6) == 0) do_step(name + 6, event->u.thread_start.thread_env_id);
}

const char* requested_thread(void) { return thread_name; }
long count_of(jint type) { return __atomic_load_n(&counts[type], __ATOMIC_RELAXED); }
long requested_of(jint type) { return __atomic_load_n(&requested[type], __ATOMIC_RELAXED); }

static struct id_set objects;

int object_is_known(jobjectID id) {
  int known;
  jvmpi->RawMonitorEnter(lock);
  known = id_number(&objects, (uint64_t)(uintptr_t)id) != 0;
  jvmpi->RawMonitorExit(lock);
  return known;
}

static void object_allocated(JVMPI_Event* event) {
  jobjectID id = event->u.obj_alloc.class_id;
  if (event->u.obj_alloc.is_array == JVMPI_NORMAL_OBJECT || event->u.obj_alloc.is_array == JVMPI_CLASS) {
    struct ClassFacts* facts = find_class(id);
    /* An array may be of a class that is not linked yet. */
    if (facts == NULL && event->u.obj_alloc.is_array == JVMPI_NORMAL_OBJECT)
      __atomic_fetch_add(&unknown_classes, 1, __ATOMIC_RELAXED);
    else if (facts != NULL && event->u.obj_alloc.is_array == JVMPI_NORMAL_OBJECT)
      __atomic_fetch_add(&facts->objects, 1, __ATOMIC_RELAXED);
  }
  jvmpi->RawMonitorEnter(lock);
  id_put(&objects, (uint64_t)(uintptr_t)event->u.obj_alloc.obj_id, 1);
  jvmpi->RawMonitorExit(lock);
  if (event->u.obj_alloc.obj_id == NULL || event->u.obj_alloc.size <= 0 || event->u.obj_alloc.arena_id != 1)
    __atomic_fetch_add(&unknown_classes, 1, __ATOMIC_RELAXED);
}

/* Replaces iconst_1; ireturn by iconst_2; ireturn: the body of JvmpiZoo.replaced(). */
static void class_hook(JVMPI_Event* event) {
  const unsigned char* data = event->u.class_load_hook.class_data;
  const jint size = event->u.class_load_hook.class_data_len;
  jint i;
  if (memmem(data, (size_t)size, "JvmpiZoo.java", 13) == NULL || memmem(data, (size_t)size, "replaced", 8) == NULL)
    return;
  event->u.class_load_hook.new_class_data = event->u.class_load_hook.malloc_f((unsigned)size);
  memcpy(event->u.class_load_hook.new_class_data, data, (size_t)size);
  for (i = 0; i + 6 < size; i++) /* code_length 2, the code */
    if (memcmp(data + i, "\0\0\0\2\4\254", 6) == 0) event->u.class_load_hook.new_class_data[i + 4] = 5;
}

static void global_ref(JVMPI_Event* event) {
  if (event->u.jni_globalref_alloc.obj_id == NULL || event->u.jni_globalref_alloc.ref_id == NULL)
    __atomic_fetch_add(&unknown_classes, 1, __ATOMIC_RELAXED);
}

/* Thread.sleep: the number of sleeps of 7 ms, and of the main thread's sleeps that have ended. */
static long sleeps_of_7, sleeps_of_main;

static void slept(const JVMPI_Event* event) {
  const int begins = event->event_type == JVMPI_EVENT_MONITOR_WAIT;
  if (event->u.monitor_wait.object != NULL) return;
  if (begins && event->u.monitor_wait.timeout == 7) __atomic_fetch_add(&sleeps_of_7, 1, __ATOMIC_RELAXED);
  if (event->u.monitor_wait.timeout < 0) entered_exits++;
  if (event->env_id == main_env) sleeps_of_main += begins ? 1 : -1;
}

static void finish(void) {
  int i;
  struct ClassFacts* facts = find_class_named("JvmpiZoo$Refusing");
  for (i = 0; i <= JVMPI_MAX_EVENT_TYPE_VAL; i++)
    if (counts[i] > 0) say("event.%d=%ld", i, counts[i]);
  for (i = 0; i <= JVMPI_MAX_EVENT_TYPE_VAL; i++)
    if (requested[i] > 0) say("requested.%d=%ld", i, requested[i]);
  if (facts != NULL) say("allocated.JvmpiZoo$Refusing=%ld", facts->objects);
  say("sleeps=%ld", sleeps_of_7);
  say("sleeps.open=%ld", sleeps_of_main);
  say("faults.free_outside_collection=%ld", free_outside);
  say("faults.unknown_class=%ld", unknown_classes);
  say("faults.unknown_free=%ld", unknown_frees);
  say("faults.unknown_thread=%ld", unknown_threads);
  say("faults.other=%ld", entered_exits);
  report_methods();
  fwrite(said, 1, said_size, report);
  fclose(report);
  report = NULL;
}

static void count_event(JVMPI_Event* event) {
  const jint type = event->event_type & ~JVMPI_REQUESTED_EVENT;
  const int is_requested = (event->event_type & JVMPI_REQUESTED_EVENT) != 0;
  if (type >= 0 && type <= JVMPI_MAX_EVENT_TYPE_VAL)
    __atomic_fetch_add(is_requested ? &requested[type] : &counts[type], 1, __ATOMIC_RELAXED);
}

static void notify(JVMPI_Event* event) {
  const jint type = event->event_type & ~JVMPI_REQUESTED_EVENT;
  const int is_requested = (event->event_type & JVMPI_REQUESTED_EVENT) != 0;
  count_event(event);
  switch (type) {
    case JVMPI_EVENT_CLASS_LOAD:
      if (is_requested) return;
      jvmpi->RawMonitorEnter(lock);
      remember_class(event);
      jvmpi->RawMonitorExit(lock);
      break;
    case JVMPI_EVENT_CLASS_UNLOAD:
      if (find_class(event->u.class_unload.class_id) == NULL) unknown_frees++;
      break;
    case JVMPI_EVENT_THREAD_START: thread_started(event, is_requested); break;
    case JVMPI_EVENT_THREAD_END:
      if (event->env_id == NULL) unknown_threads++;
      break;
    case JVMPI_EVENT_OBJECT_ALLOC: object_allocated(event); break;
    case JVMPI_EVENT_OBJECT_FREE:
      if (!in_collection) free_outside++;
      break;
    case JVMPI_EVENT_GC_START:
      jvmpi->RawMonitorEnter(lock);
      in_collection = 1;
      break;
    case JVMPI_EVENT_GC_FINISH:
      in_collection = 0;
      if (event->u.gc_info.used_object_space > event->u.gc_info.total_object_space) entered_exits++;
      if (event->u.gc_info.used_object_space > 0) __atomic_store_n(&counts[0], 1, __ATOMIC_RELAXED);
      jvmpi->RawMonitorExit(lock);
      break;
    case JVMPI_EVENT_METHOD_ENTRY: count_method(event->u.method.method_id, 1, 0); break;
    case JVMPI_EVENT_METHOD_EXIT: count_method(event->u.method.method_id, 0, 0); break;
    case JVMPI_EVENT_METHOD_ENTRY2:
      count_method(event->u.method_entry2.method_id, 1, event->u.method_entry2.obj_id != NULL);
      break;
    case JVMPI_EVENT_CLASS_LOAD_HOOK: class_hook(event); break;
    case JVMPI_EVENT_JNI_GLOBALREF_ALLOC:
    case JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC: global_ref(event); break;
    case JVMPI_EVENT_COMPILED_METHOD_LOAD:
      if (event->u.compiled_method_load.lineno_table_size > 0) __atomic_store_n(&counts[36], 1, __ATOMIC_RELAXED);
      if (event->u.compiled_method_load.code_addr == NULL || event->u.compiled_method_load.code_size <= 0)
        entered_exits++;
      break;
    case JVMPI_EVENT_MONITOR_CONTENDED_EXIT:
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTER:
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTERED:
      if (event->u.monitor.object == NULL || event->env_id == NULL) entered_exits++;
      if (type == JVMPI_EVENT_MONITOR_CONTENDED_ENTER && event->env_id == enterer_env)
        __atomic_store_n(&enterer_waits, 1, __ATOMIC_RELEASE);
      break;
    case JVMPI_EVENT_MONITOR_WAIT:
    case JVMPI_EVENT_MONITOR_WAITED: slept(event); break;
    case JVMPI_EVENT_HEAP_DUMP: heap_dumped(event); break;
    case JVMPI_EVENT_OBJECT_DUMP: object_dumped(event); break;
    case JVMPI_EVENT_MONITOR_DUMP: monitors_dumped(event); break;
    case JVMPI_EVENT_JVM_SHUT_DOWN: finish(); break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* jvm, char* options, void* reserved) {
  char* word;
  (void)reserved;
  if ((*jvm)->GetEnv(jvm, (void**)&jvmpi, JVMPI_VERSION_1_2) < 0) return JNI_ERR;
  if (jvmpi->version < JVMPI_VERSION_1_2) return JNI_ERR;
  options = strdup(options);
  word = strtok(options, ":");
  if (word == NULL || (report = fopen(word, "w")) == NULL) return JNI_ERR;
  jvmpi->NotifyEvent = notify;
  lock = jvmpi->RawMonitorCreate("_exerciser");
  while ((word = strtok(NULL, ":")) != NULL) say("enable.%s=%d", word, (int)jvmpi->EnableEvent(atoi(word), NULL));
  jvmpi->EnableEvent(JVMPI_EVENT_JVM_SHUT_DOWN, NULL);
  free(options);
  return JNI_OK;
}
