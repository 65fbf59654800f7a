/* A profiler that writes trace.dtd and knows nothing but JVMPI: what it says of a program is held against what jtrace's
   own agent says. Options: FILE:PREFIX, methods of classes whose name starts with PREFIX are written.

   Ids: objects and classes have the bridge's (small numbers); threads and methods, which are addresses that the JVM
   uses again, get numbers of their own. One raw monitor orders everything that is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/jvmpi/jvmpi.h"
#include "tests/live/jvmpi/id_set.h"

#define CALL(routine) (jvmpi->routine)

struct call {
  uint64_t method; /* its number, 0: not written */
  uint64_t ticket;
};
struct thread { /* in thread-local storage */
  uint64_t number, tickets;
  size_t depth, room;
  struct call* calls; /* those that are written, the innermost last */
};

static JVMPI_Interface* jvmpi;
static JVMPI_RawMonitor lock;
static FILE* out;
static char prefix[256];
static struct id_set classes, objects, methods;
static uint64_t threads, method_numbers, collation, unknown_threads, unbalanced;
static char trace_id[40], agent_id[40];

/* -- writing -- */

static void text(const char* name, const char* value) {
  fprintf(out, " %s=\"", name);
  for (; value != NULL && *value != '\0'; value++) switch (*value) {
      case '&': fputs("&amp;", out); break;
      case '<': fputs("&lt;", out); break;
      case '>': fputs("&gt;", out); break;
      case '"': fputs("&quot;", out); break;
      default: fputc(*value, out);
    }
  fputc('"', out);
}

static void number(const char* name, uint64_t value) { fprintf(out, " %s=\"%llu\"", name, (unsigned long long)value); }

static void now(void) { /* wall time, by a clock that does not go back */
  static struct timespec offset;
  struct timespec time, wall;
  clock_gettime(CLOCK_MONOTONIC, &time);
  if (offset.tv_sec == 0) {
    clock_gettime(CLOCK_REALTIME, &wall);
    offset.tv_sec = wall.tv_sec - time.tv_sec;
  }
  fprintf(out, " time=\"%lld.%09ld\"", (long long)(time.tv_sec + offset.tv_sec), time.tv_nsec);
}

static void open_element(const char* name) { fprintf(out, "<%s", name); }
static void close_element(void) {
  number("collationValue", ++collation);
  fputs("/>\n", out);
}

static void write_head(void) {
  char host[64] = "", node_id[40], process_id[40];
  const unsigned long pid = (unsigned long)getpid();
  gethostname(host, sizeof host - 1);
  /* Unique in this document, which is what the comparison needs. */
  snprintf(node_id, sizeof node_id, "00000000-0000-4000-8000-%012x", 1);
  snprintf(process_id, sizeof process_id, "00000000-0000-4000-8001-%012lx", pid);
  snprintf(agent_id, sizeof agent_id, "00000000-0000-4000-8002-%012lx", pid);
  snprintf(trace_id, sizeof trace_id, "00000000-0000-4000-8003-%012lx", pid);
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n<node", out);
  text("nodeId", node_id), text("hostname", host), text("ipaddress", "127.0.0.1");
  fputs("/>\n<processCreate", out);
  text("processId", process_id), number("pid", pid), text("nodeIdRef", node_id), now();
  fputs("/>\n<agentCreate", out);
  text("agentId", agent_id), text("processIdRef", process_id), text("agentName", "jvmpi"), now();
  fputs("/>\n", out);
  open_element("traceStart"), text("traceId", trace_id), text("agentIdRef", agent_id), now(), close_element();
}

static void write_tail(void) {
  fprintf(out, "<option key=\"jvmpi.unknownThreads\" value=\"%llu\"/>\n", (unsigned long long)unknown_threads);
  fprintf(out, "<option key=\"jvmpi.unbalanced\" value=\"%llu\"/>\n", (unsigned long long)unbalanced);
  open_element("traceEnd"), text("traceIdRef", trace_id), now(), close_element();
  fputs("<agentDestroy", out), text("agentIdRef", agent_id), now(), fputs("/>\n</TRACE>\n", out);
  fclose(out);
  out = NULL;
}

/* -- what events refer to -- */

static struct thread* thread_of(JNIEnv* env) {
  struct thread* thread = CALL(GetThreadLocalStorage)(env);
  if (thread == NULL) unknown_threads++;
  return thread;
}

/* Objects of threads are defined before the threads, on a thread that may not be defined itself yet. */
static void thread_reference(JNIEnv* env) {
  const struct thread* thread = env == NULL ? NULL : CALL(GetThreadLocalStorage)(env);
  if (thread != NULL) number("threadIdRef", thread->number);
}

/* Requests a missing definition: it arrives before RequestEvent returns. */
static int is_defined(struct id_set* set, jobjectID id, jint defining_event) {
  if (id == NULL) return 0;
  if (id_number(set, (uint64_t)(uintptr_t)id) == 0) CALL(RequestEvent)(defining_event, id);
  return id_number(set, (uint64_t)(uintptr_t)id) != 0;
}

static void object_reference(jobjectID id) { number("objIdRef", (uint64_t)(uintptr_t)id); }

/* -- events -- */

static void thread_start(const JVMPI_Event* event) {
  const int known = is_defined(&objects, event->u.thread_start.thread_id, JVMPI_EVENT_OBJECT_ALLOC);
  struct thread* thread = calloc(1, sizeof *thread);
  if (thread == NULL) abort();
  thread->number = ++threads;
  CALL(SetThreadLocalStorage)(event->u.thread_start.thread_env_id, thread);
  open_element("threadStart"), number("threadId", thread->number), now();
  text("threadName", event->u.thread_start.thread_name), text("groupName", event->u.thread_start.group_name);
  text("parentName", event->u.thread_start.parent_name);
  if (known) object_reference(event->u.thread_start.thread_id);
  close_element();
}

static void thread_end(const JVMPI_Event* event) {
  struct thread* thread = thread_of(event->env_id);
  if (thread == NULL) return;
  open_element("threadEnd"), number("threadIdRef", thread->number), now(), close_element();
  CALL(SetThreadLocalStorage)(event->env_id, NULL);
  free(thread->calls);
  free(thread);
}

static void class_load(const JVMPI_Event* event) {
  const uint64_t id = (uint64_t)(uintptr_t)event->u.class_load.class_id;
  if (id_number(&classes, id) != 0) return;
  id_put(&classes, id, id);
  open_element("classDef"), number("classId", id), text("name", event->u.class_load.class_name);
  text("sourceName", event->u.class_load.source_name);
  number("numInterfaces", (uint64_t)event->u.class_load.num_interfaces);
  number("numMethods", (uint64_t)event->u.class_load.num_methods);
  number("numStaticFields", (uint64_t)event->u.class_load.num_static_fields);
  number("numInstanceFields", (uint64_t)event->u.class_load.num_instance_fields), now(), close_element();
  if (strncmp(event->u.class_load.class_name, prefix, strlen(prefix)) != 0) return;
  for (jint i = 0; i < event->u.class_load.num_methods; i++) {
    const JVMPI_Method* method = &event->u.class_load.methods[i];
    id_put(&methods, (uint64_t)(uintptr_t)method->method_id, ++method_numbers);
    open_element("methodDef"), number("methodId", method_numbers), number("classIdRef", id);
    text("name", method->method_name), text("signature", method->method_signature);
    if (method->start_lineno > 0) number("startLineNumber", (uint64_t)method->start_lineno);
    if (method->end_lineno > 0) number("endLineNumber", (uint64_t)method->end_lineno);
    close_element();
  }
}

static void class_unload(const JVMPI_Event* event) {
  const uint64_t id = (uint64_t)(uintptr_t)event->u.class_unload.class_id;
  if (id_number(&classes, id) == 0) return;
  id_put(&classes, id, 0);
  open_element("classUnload"), number("classIdRef", id), now(), close_element();
}

static void method_entry(const JVMPI_Event* event) {
  struct thread* thread = thread_of(event->env_id);
  const uint64_t method = id_number(&methods, (uint64_t)(uintptr_t)event->u.method.method_id);
  if (thread == NULL || method == 0) return;
  if (thread->depth == thread->room) {
    thread->room = thread->room == 0 ? 64 : 2 * thread->room;
    thread->calls = realloc(thread->calls, thread->room * sizeof *thread->calls);
    if (thread->calls == NULL) abort();
  }
  const struct call call = {method, ++thread->tickets};
  thread->calls[thread->depth++] = call;
  open_element("methodEntry"), number("threadIdRef", thread->number), now(), number("methodIdRef", method);
  number("ticket", call.ticket), number("stackDepth", thread->depth);
  number("collationValue", ++collation);
  fputs("><InvocationContext/></methodEntry>\n", out);
}

/* Calls that were open when the profiler was loaded have no entry: their exit is not written either. */
static void method_exit(const JVMPI_Event* event) {
  struct thread* thread = thread_of(event->env_id);
  const uint64_t method = id_number(&methods, (uint64_t)(uintptr_t)event->u.method.method_id);
  if (thread == NULL || method == 0 || thread->depth == 0) return;
  const struct call call = thread->calls[--thread->depth];
  if (call.method != method) unbalanced++;
  open_element("methodExit"), number("threadIdRef", thread->number), now(), number("methodIdRef", method);
  number("ticket", call.ticket), close_element();
}

static void object_alloc(const JVMPI_Event* event) {
  const uint64_t id = (uint64_t)(uintptr_t)event->u.obj_alloc.obj_id;
  if (id_number(&objects, id) != 0) return;
  id_put(&objects, id, id);
  const int known = is_defined(&classes, event->u.obj_alloc.class_id, JVMPI_EVENT_CLASS_LOAD);
  open_element("objAlloc");
  thread_reference(event->env_id), now(), number("isArray", (uint64_t)event->u.obj_alloc.is_array);
  number("objId", id), number("size", (uint64_t)event->u.obj_alloc.size);
  if (known) number("classIdRef", (uint64_t)(uintptr_t)event->u.obj_alloc.class_id);
  close_element();
}

static void object_free(const JVMPI_Event* event) {
  const uint64_t id = (uint64_t)(uintptr_t)event->u.obj_free.obj_id;
  if (id_number(&objects, id) == 0) return;
  id_put(&objects, id, 0);
  open_element("objFree"), now(), object_reference(event->u.obj_free.obj_id), close_element();
}

static void monitor(const JVMPI_Event* event, const char* name, jobjectID object, jlong timeout) {
  const int known = is_defined(&objects, object, JVMPI_EVENT_OBJECT_ALLOC);
  open_element(name), thread_reference(event->env_id), now();
  if (known) object_reference(object);
  else if (object == NULL) text("objIdRef", "-1"); /* a sleep */
  if (timeout >= 0) number("timeout", (uint64_t)timeout);
  close_element();
}

static void gc(const JVMPI_Event* event, const char* name) {
  open_element(name), thread_reference(event->env_id), now();
  if (event->event_type == JVMPI_EVENT_GC_FINISH) {
    number("totalObjectSpace", (uint64_t)event->u.gc_info.total_object_space);
    number("usedObjectSpace", (uint64_t)event->u.gc_info.used_object_space);
  }
  close_element();
}

static void write_event(const JVMPI_Event* event) {
  switch (event->event_type & ~JVMPI_REQUESTED_EVENT) {
    case JVMPI_EVENT_THREAD_START: thread_start(event); break;
    case JVMPI_EVENT_THREAD_END: thread_end(event); break;
    case JVMPI_EVENT_CLASS_LOAD: class_load(event); break;
    case JVMPI_EVENT_CLASS_UNLOAD: class_unload(event); break;
    case JVMPI_EVENT_METHOD_ENTRY: method_entry(event); break;
    case JVMPI_EVENT_METHOD_EXIT: method_exit(event); break;
    case JVMPI_EVENT_OBJECT_ALLOC: object_alloc(event); break;
    case JVMPI_EVENT_OBJECT_FREE: object_free(event); break;
    case JVMPI_EVENT_MONITOR_WAIT:
      monitor(event, "monWait", event->u.monitor_wait.object, event->u.monitor_wait.timeout);
      break;
    case JVMPI_EVENT_MONITOR_WAITED:
      monitor(event, "monWaited", event->u.monitor_wait.object, event->u.monitor_wait.timeout);
      break;
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTER: monitor(event, "monContendedEnter", event->u.monitor.object, -1); break;
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTERED:
      monitor(event, "monContendedEntered", event->u.monitor.object, -1);
      break;
    case JVMPI_EVENT_GC_START: gc(event, "gcStart"); break;
    case JVMPI_EVENT_GC_FINISH: gc(event, "gcFinish"); break;
    case JVMPI_EVENT_JVM_INIT_DONE: open_element("runtimeInitDone"), now(), close_element(); break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      open_element("runtimeShutdown"), now(), close_element();
      write_tail();
      break;
  }
}

static void notify_event(JVMPI_Event* event) {
  CALL(RawMonitorEnter)(lock);
  if (out != NULL) write_event(event);
  CALL(RawMonitorExit)(lock);
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* jvm, char* options, void* reserved) {
  static const jint kEvents[] = {JVMPI_EVENT_THREAD_START,
                                 JVMPI_EVENT_THREAD_END,
                                 JVMPI_EVENT_CLASS_LOAD,
                                 JVMPI_EVENT_CLASS_UNLOAD,
                                 JVMPI_EVENT_OBJECT_ALLOC,
                                 JVMPI_EVENT_OBJECT_FREE,
                                 JVMPI_EVENT_MONITOR_WAIT,
                                 JVMPI_EVENT_MONITOR_WAITED,
                                 JVMPI_EVENT_GC_START,
                                 JVMPI_EVENT_GC_FINISH,
                                 JVMPI_EVENT_JVM_INIT_DONE,
                                 JVMPI_EVENT_JVM_SHUT_DOWN,
                                 JVMPI_EVENT_METHOD_ENTRY,
                                 JVMPI_EVENT_METHOD_EXIT,
                                 JVMPI_EVENT_MONITOR_CONTENDED_ENTER,
                                 JVMPI_EVENT_MONITOR_CONTENDED_ENTERED};
  char file[512];
  (void)reserved;
  if (sscanf(options, "%511[^:]:%255s", file, prefix) != 2) return JNI_ERR;
  if ((*jvm)->GetEnv(jvm, (void**)&jvmpi, JVMPI_VERSION_1) < 0) return JNI_ERR;
  if ((out = fopen(file, "w")) == NULL) return JNI_ERR;
  lock = CALL(RawMonitorCreate)("_trace");
  write_head();
  jvmpi->NotifyEvent = notify_event;
  for (size_t i = 0; i < sizeof kEvents / sizeof *kEvents; i++)
    if (CALL(EnableEvent)(kEvents[i], NULL) != JVMPI_SUCCESS) return JNI_ERR;
  return JNI_OK;
}
