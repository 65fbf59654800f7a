/* Each function of the interface, used as a profiler would, with its expected result: "function.NAME=ok", or what was
 * wrong. */
#include <string.h>
#include <time.h>

#include "tests/live/jvmpi/exerciser.h"

static void judge(const char* name, int fine) { say("function.%s=%s", name, fine ? "ok" : "wrong"); }

static void nap(void) {
  struct timespec ms = {0, 1000000};
  nanosleep(&ms, NULL);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

static void do_threads(JNIEnv* env) {
  JNIEnv* main_env = main_thread();
  jobjectID id = jvmpi->GetThreadObject(env);
  jobject object;
  JVMPI_CallFrame frames[32];
  JVMPI_CallTrace trace = {main_env, 0, frames};
  jlong before = jvmpi->GetCurrentThreadCpuTime();
  volatile int i;
  int has_lines = 0, k;

  for (i = 0; i < 1000000; i++) continue;
  judge("GetCurrentThreadCpuTime", before > 0 && jvmpi->GetCurrentThreadCpuTime() > before);
  judge("GetThreadObject", id != NULL && jvmpi->GetThreadObject(env) == id && jvmpi->GetThreadObject(main_env) != id);
  judge("RequestEvent THREAD_START",
        jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, id) == JVMPI_SUCCESS &&
            strcmp(requested_thread(), "jvmpi:threads") == 0 &&
            jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, (jobjectID)0x7ffffffffff8) == JVMPI_FAIL);
  object = jvmpi->jobjectID2jobject(id);
  judge("jobjectID2jobject", object != NULL && jvmpi->jobject2jobjectID(object) == id);
  jvmpi->SetThreadLocalStorage(env, &trace);
  judge("ThreadLocalStorage",
        jvmpi->GetThreadLocalStorage(env) == &trace && jvmpi->GetThreadLocalStorage(main_env) == NULL);
  jvmpi->SetThreadLocalStorage(env, NULL);

  /* The main thread waits in Thread.join() for this one. */
  while ((jvmpi->GetThreadStatus(main_env) & 3) != JVMPI_THREAD_CONDVAR_WAIT) nap();
  judge("GetThreadStatus", jvmpi->GetThreadStatus(main_env) == JVMPI_THREAD_CONDVAR_WAIT &&
                               (jvmpi->GetThreadStatus(env) & 3) == JVMPI_THREAD_RUNNABLE);
  jvmpi->GetCallTrace(&trace, 32);
  for (k = 0; k < trace.num_frames; k++) has_lines |= frames[k].lineno > 0;
  judge("GetCallTrace", trace.num_frames > 3 && has_lines && frames[0].lineno == -3);

  jvmpi->SuspendThread(main_env);
  judge("SuspendThread", jvmpi->GetThreadStatus(main_env) == JVMPI_THREAD_CONDVAR_WAIT); /* it does not show */
  jvmpi->ResumeThread(main_env);
  jvmpi->SuspendThread(main_env);
  judge("ThreadHasRun", jvmpi->ThreadHasRun(main_env) == JNI_FALSE);
  jvmpi->ResumeThread(main_env);
  {
    jint results[2] = {7, 7};
    JNIEnv* list[2] = {main_env, (JNIEnv*)&trace};
    jvmpi->SuspendThreadList(2, list, results);
    judge("SuspendThreadList", results[0] == JVMPI_SUCCESS && results[1] == JVMPI_FAIL);
    jvmpi->ResumeThreadList(2, list, results);
    judge("ResumeThreadList", results[0] == JVMPI_SUCCESS && results[1] == JVMPI_FAIL);
  }
}

static void ask_about(JNIEnv* env, long* asked, long* seen) {
  JVMPI_CallFrame frames[32];
  JVMPI_CallTrace trace = {env, 0, frames};
  jint done = JVMPI_FAIL;
  jvmpi->GetCallTrace(&trace, 32);
  jvmpi->GetThreadStatus(env);
  jvmpi->GetThreadObject(env);
  jvmpi->SuspendThreadList(1, &env, &done);
  if (done == JVMPI_SUCCESS) jvmpi->ResumeThread(env);
  ++*asked;
  *seen += trace.num_frames > 0;
}

/* Asks about threads that end meanwhile, for some seconds. */
static void do_endings(JNIEnv* env) {
  long asked = 0, seen = 0;
  struct timespec begin, now;
  int i;
  (void)env;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    for (i = 0; i < kEnding; i++)
      if (ending_thread(i) != NULL) ask_about(ending_thread(i), &asked, &seen);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - begin.tv_sec < 3);
  say("endings.asked=%ld", asked);
  say("endings.seen=%ld", seen);
}

/* --- classes and events ---------------------------------------------------------------------------------------------
 */

static void do_classes(JNIEnv* env) {
  struct ClassFacts* zoo = find_class_named("JvmpiZoo");
  JVMPI_CallFrame frames[32];
  JVMPI_CallTrace trace = {main_thread(), 0, frames};
  long before = requested_of(JVMPI_EVENT_CLASS_LOAD);
  (void)env;
  jvmpi->DisableGC();
  jvmpi->GetCallTrace(&trace, 32);
  judge("GetMethodClass", zoo != NULL && trace.num_frames > 0 &&
                              jvmpi->GetMethodClass(frames[trace.num_frames - 1].method_id) == zoo->id);
  jvmpi->EnableGC();
  judge("RequestEvent CLASS_LOAD", zoo != NULL &&
                                       jvmpi->RequestEvent(JVMPI_EVENT_CLASS_LOAD, zoo->id) == JVMPI_SUCCESS &&
                                       requested_of(JVMPI_EVENT_CLASS_LOAD) == before + 1);
  before = requested_of(JVMPI_EVENT_OBJECT_ALLOC);
  judge("RequestEvent OBJECT_ALLOC",
        jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_ALLOC, jvmpi->GetThreadObject(main_thread())) == JVMPI_SUCCESS &&
            requested_of(JVMPI_EVENT_OBJECT_ALLOC) == before + 1);
  judge("RequestEvent of others", jvmpi->RequestEvent(JVMPI_EVENT_GC_START, NULL) == JVMPI_NOT_AVAILABLE);
  judge("EnableEvent of dumps", jvmpi->EnableEvent(JVMPI_EVENT_HEAP_DUMP, NULL) == JVMPI_NOT_AVAILABLE &&
                                    jvmpi->DisableEvent(JVMPI_EVENT_MONITOR_DUMP, NULL) == JVMPI_NOT_AVAILABLE &&
                                    jvmpi->EnableEvent(JVMPI_EVENT_OBJECT_DUMP, NULL) == JVMPI_NOT_AVAILABLE &&
                                    jvmpi->EnableEvent(17, NULL) == JVMPI_NOT_AVAILABLE);
}

/* --- raw monitors, threads of the profiler's, collections
 * ------------------------------------------------------------- */

static JVMPI_RawMonitor meeting;
static int arrived;

static void system_thread(void* argument) {
  jvmpi->RawMonitorEnter(meeting);
  arrived = argument == NULL ? 1 : -1;
  jvmpi->RawMonitorNotifyAll(meeting);
  jvmpi->RawMonitorExit(meeting);
}

static void do_monitors(JNIEnv* env) {
  struct timespec before, after;
  (void)env;
  meeting = jvmpi->RawMonitorCreate("meeting");
  judge("RawMonitorCreate", meeting != NULL);
  jvmpi->RawMonitorEnter(meeting);
  jvmpi->RawMonitorEnter(meeting);
  jvmpi->RawMonitorExit(meeting);
  clock_gettime(CLOCK_MONOTONIC, &before);
  jvmpi->RawMonitorWait(meeting, 20);
  clock_gettime(CLOCK_MONOTONIC, &after);
  judge("RawMonitorWait", (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >= 15);
  judge("CreateSystemThread", jvmpi->CreateSystemThread("zoo system", JVMPI_NORMAL_PRIORITY, system_thread) == JNI_OK);
  /* It has to wait for the monitor, and is told of so. */
  while (count_of(JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER) == 0) nap();
  jvmpi->RawMonitorExit(meeting); /* which makes a CONTENDED_EXIT */
  jvmpi->RawMonitorEnter(meeting);
  while (arrived == 0) jvmpi->RawMonitorWait(meeting, 0);
  judge("RawMonitorNotifyAll", arrived == 1);
  jvmpi->RawMonitorExit(meeting);
  jvmpi->RawMonitorEnter(meeting); /* the thread has left it */
  jvmpi->RawMonitorExit(meeting);
  jvmpi->RawMonitorDestroy(meeting);
  judge("RawMonitorDestroy", 1);
}

static void do_collections(JNIEnv* env) {
  long before = count_of(JVMPI_EVENT_GC_START);
  int i;
  (void)env;
  jvmpi->DisableGC();
  jvmpi->DisableGC();
  jvmpi->EnableGC();
  jvmpi->EnableGC();
  jvmpi->RunGC();
  /* With OBJECT_FREE on they come soon after. */
  for (i = 0; i < 10000 && count_of(JVMPI_EVENT_GC_START) == before; i++) nap();
  judge("RunGC", count_of(JVMPI_EVENT_GC_START) > before);
}

static void do_references(JNIEnv* env) {
  long globals = count_of(JVMPI_EVENT_JNI_GLOBALREF_ALLOC), weaks = count_of(JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC);
  jobject text = (jobject)(*env)->NewStringUTF(env, "referred to");
  jobject global = (*env)->NewGlobalRef(env, text);
  jweak weak = (*env)->NewWeakGlobalRef(env, text);
  (*env)->DeleteGlobalRef(env, global);
  (*env)->DeleteWeakGlobalRef(env, weak);
  judge("global references",
        count_of(JVMPI_EVENT_JNI_GLOBALREF_ALLOC) > globals && count_of(JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC) > weaks &&
            count_of(JVMPI_EVENT_JNI_GLOBALREF_FREE) > 0 && count_of(JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE) > 0);
}

/* --- switching
 * --------------------------------------------------------------------------------------------------------- */

static void set_methods(int on) {
  jint (*set)(jint, void*) = on ? jvmpi->EnableEvent : jvmpi->DisableEvent;
  judge(on ? "EnableEvent" : "DisableEvent",
        set(JVMPI_EVENT_METHOD_ENTRY, NULL) == JVMPI_SUCCESS && set(JVMPI_EVENT_METHOD_EXIT, NULL) == JVMPI_SUCCESS);
}
static void do_methods_on(JNIEnv* env) {
  (void)env;
  set_methods(1);
}
static void do_methods_off(JNIEnv* env) {
  (void)env;
  set_methods(0);
}

/* --- dumps
 * ------------------------------------------------------------------------------------------------------------- */

static void do_heap(JNIEnv* env) {
  JVMPI_HeapDumpArg level;
  (void)env;
  for (level.heap_dump_level = JVMPI_DUMP_LEVEL_0; level.heap_dump_level <= JVMPI_DUMP_LEVEL_2; level.heap_dump_level++)
    judge("RequestEvent HEAP_DUMP", jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, &level) == JVMPI_SUCCESS);
  judge("RequestEvent HEAP_DUMP NULL", jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, NULL) == JVMPI_SUCCESS);
  judge("RequestEvent OBJECT_DUMP",
        dumped_animal() != NULL && jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_DUMP, dumped_animal()) == JVMPI_SUCCESS &&
            jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_DUMP, NULL) == JVMPI_FAIL);
}

static void do_monitor_dump(JNIEnv* env) {
  int i;
  (void)env;
  for (i = 0; i < 10000 && !enterer_is_waiting(); i++) nap();
  judge("RequestEvent MONITOR_DUMP", jvmpi->RequestEvent(JVMPI_EVENT_MONITOR_DUMP, NULL) == JVMPI_SUCCESS);
}

/* The JVM reports freed code when its service thread runs. */
static void do_unloaded(JNIEnv* env) {
  int i;
  (void)env;
  for (i = 0; i < 10000 && count_of(JVMPI_EVENT_COMPILED_METHOD_UNLOAD) == 0; i++) nap();
}

static void do_exit(JNIEnv* env) {
  (void)env;
  jvmpi->ProfilerExit(42);
}

void do_step(const char* name, JNIEnv* env) {
  static const struct {
    const char* name;
    void (*run)(JNIEnv*);
  } steps[] = {{"threads", do_threads},           {"endings", do_endings},         {"classes", do_classes},
               {"monitors", do_monitors},         {"collections", do_collections}, {"references", do_references},
               {"methods_on", do_methods_on},     {"methods_off", do_methods_off}, {"heap", do_heap},
               {"monitor_dump", do_monitor_dump}, {"unloaded", do_unloaded},       {"exit", do_exit}};
  size_t i;
  for (i = 0; i < sizeof steps / sizeof steps[0]; i++)
    if (strcmp(steps[i].name, name) == 0) steps[i].run(env);
}
