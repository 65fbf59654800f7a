/*
 * The Java Virtual Machine Profiler Interface (JVMPI) of JDK 1.2, for profilers that libjtrace_jvmpi.so runs on today's
 * HotSpot. Types, functions and events are those of the interface's document of 11 November 1998; the numbers, which
 * the document does not give, are those that every JVM with JVMPI used, so that libraries built in its time fit.
 * docs/jvmpi.md says what each event and function gives on which JDK.
 *
 * A profiler exports
 *     jint JNICALL JVM_OnLoad(JavaVM *jvm, char *options, void *reserved);
 * gets the interface by (*jvm)->GetEnv(jvm, (void **)&interface, JVMPI_VERSION_1), sets its NotifyEvent, enables
 * events, and returns JNI_OK, or JNI_ERR where it cannot work.
 *
 * Modes. Events come in the thread that makes them, several at a time. Events with a jobjectID come with GC disabled.
 * Between GC_START and GC_FINISH the process is in thread suspended mode: the profiler takes the locks it needs in its
 * handler of GC_START, gives them back in that of GC_FINISH, and does nothing in between that may wait.
 *
 * Text is in the JVM's modified UTF-8. What an event points to is gone when NotifyEvent returns.
 */
#ifndef JTRACE_JVMPI_H
#define JTRACE_JVMPI_H

#include <jni.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JVMPI_VERSION_1 ((jint)0x10000001)
#define JVMPI_VERSION_1_1 ((jint)0x10000002) /* jobjectID2jobject, jobject2jobjectID, INSTRUCTION_START */
#define JVMPI_VERSION_1_2 ((jint)0x10000003) /* SuspendThreadList, ResumeThreadList */

/* Results of EnableEvent, DisableEvent, RequestEvent. */
#define JVMPI_SUCCESS ((jint)0)
#define JVMPI_NOT_AVAILABLE ((jint)1)
#define JVMPI_FAIL ((jint)-1)

/* Results of GetThreadStatus; the last two are bits above one of the first three. */
#define JVMPI_THREAD_RUNNABLE 1
#define JVMPI_THREAD_MONITOR_WAIT 2 /* waits to enter a monitor */
#define JVMPI_THREAD_CONDVAR_WAIT 3 /* waits to be notified, sleeps, is parked */
#define JVMPI_THREAD_SUSPENDED 0x8000
#define JVMPI_THREAD_INTERRUPTED 0x4000

/* Priorities of CreateSystemThread: java.lang.Thread's. */
#define JVMPI_MINIMUM_PRIORITY 1
#define JVMPI_MAXIMUM_PRIORITY 10
#define JVMPI_NORMAL_PRIORITY 5

/* Kinds of objects, and of the elements of arrays. */
#define JVMPI_NORMAL_OBJECT ((jint)0)
#define JVMPI_CLASS ((jint)2) /* array of objects */
#define JVMPI_BOOLEAN ((jint)4)
#define JVMPI_CHAR ((jint)5)
#define JVMPI_FLOAT ((jint)6)
#define JVMPI_DOUBLE ((jint)7)
#define JVMPI_BYTE ((jint)8)
#define JVMPI_SHORT ((jint)9)
#define JVMPI_INT ((jint)10)
#define JVMPI_LONG ((jint)11)

/* Records of heap and object dumps. Numbers in dumps have the most significant byte first; ids are as in memory. */
#define JVMPI_GC_ROOT_UNKNOWN 0xff      /* jobjectID object */
#define JVMPI_GC_ROOT_JNI_GLOBAL 0x01   /* jobjectID object, jobject reference */
#define JVMPI_GC_ROOT_JNI_LOCAL 0x02    /* jobjectID object, JNIEnv* thread, u4 frame (-1: empty) */
#define JVMPI_GC_ROOT_JAVA_FRAME 0x03   /* the same */
#define JVMPI_GC_ROOT_NATIVE_STACK 0x04 /* jobjectID object, JNIEnv* thread */
#define JVMPI_GC_ROOT_STICKY_CLASS 0x05 /* jobjectID class object */
#define JVMPI_GC_ROOT_THREAD_BLOCK 0x06 /* jobjectID thread object, JNIEnv* thread */
#define JVMPI_GC_ROOT_MONITOR_USED 0x07 /* jobjectID object */
/* jobjectID class, super, loader, signers, protection domain, void* reserved (2), u4 instance size, jobjectID
   interfaces (their number is in CLASS_LOAD), u2 constants, each: u2 index, u1 kind, value; values of the static fields
 */
#define JVMPI_GC_CLASS_DUMP 0x20
/* jobjectID object, class, u4 bytes that follow, values of the fields: the class's own, its superclass's, ... */
#define JVMPI_GC_INSTANCE_DUMP 0x21
/* jobjectID array, u4 elements, jobjectID class of the elements, jobjectID elements */
#define JVMPI_GC_OBJ_ARRAY_DUMP 0x22
/* jobjectID array, u4 elements, u1 kind, elements */
#define JVMPI_GC_PRIM_ARRAY_DUMP 0x23

/* Records of the monitor dump. A list of threads is u4 number and a JNIEnv* each. */
/* jobjectID object, JNIEnv* owner, u4 entry count, threads waiting to enter, threads waiting to be notified */
#define JVMPI_MONITOR_JAVA 0x01
/* char* name, JVMPI_RawMonitor id, then the same */
#define JVMPI_MONITOR_RAW 0x02

#define JVMPI_DUMP_LEVEL_0 ((jint)0) /* u1 kind, jobjectID: no more of each object */
#define JVMPI_DUMP_LEVEL_1 ((jint)1) /* records without values that are not references */
#define JVMPI_DUMP_LEVEL_2 ((jint)2) /* records with everything */

/* Added to the event's type where the event answers RequestEvent. */
#define JVMPI_REQUESTED_EVENT ((jint)0x10000000)

#define JVMPI_EVENT_METHOD_ENTRY ((jint)1)  /* u.method */
#define JVMPI_EVENT_METHOD_ENTRY2 ((jint)2) /* u.method_entry2 */
#define JVMPI_EVENT_METHOD_EXIT ((jint)3)   /* u.method; by return or by exception */
#define JVMPI_EVENT_OBJECT_ALLOC ((jint)4)  /* u.obj_alloc; may be requested: jobjectID */
#define JVMPI_EVENT_OBJECT_FREE ((jint)5)   /* u.obj_free; between GC_START and GC_FINISH */
#define JVMPI_EVENT_OBJECT_MOVE ((jint)6)   /* u.obj_move */
#define JVMPI_EVENT_COMPILED_METHOD_LOAD ((jint)7)
#define JVMPI_EVENT_COMPILED_METHOD_UNLOAD ((jint)8)
#define JVMPI_EVENT_INSTRUCTION_START ((jint)9) /* u.instruction; version 1.1 */
#define JVMPI_EVENT_THREAD_START ((jint)33)     /* u.thread_start; may be requested: jobjectID of the thread */
#define JVMPI_EVENT_THREAD_END ((jint)34)
#define JVMPI_EVENT_CLASS_LOAD_HOOK ((jint)35)     /* u.class_load_hook */
#define JVMPI_EVENT_HEAP_DUMP ((jint)37)           /* u.heap_dump; on request only: JVMPI_HeapDumpArg*, NULL: level 2 */
#define JVMPI_EVENT_JNI_GLOBALREF_ALLOC ((jint)38) /* u.jni_globalref_alloc */
#define JVMPI_EVENT_JNI_GLOBALREF_FREE ((jint)39)  /* u.jni_globalref_free */
#define JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC ((jint)40)
#define JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE ((jint)41)
#define JVMPI_EVENT_CLASS_LOAD ((jint)42) /* u.class_load; may be requested: jobjectID of the class */
#define JVMPI_EVENT_CLASS_UNLOAD ((jint)43)
#define JVMPI_EVENT_DATA_DUMP_REQUEST ((jint)44)
#define JVMPI_EVENT_DATA_RESET_REQUEST ((jint)45)
#define JVMPI_EVENT_JVM_INIT_DONE ((jint)46)
#define JVMPI_EVENT_JVM_SHUT_DOWN ((jint)47)
#define JVMPI_EVENT_ARENA_NEW ((jint)48)
#define JVMPI_EVENT_ARENA_DELETE ((jint)49)
#define JVMPI_EVENT_OBJECT_DUMP ((jint)50) /* u.object_dump; on request only: jobjectID */
#define JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER ((jint)51)
#define JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED ((jint)52)
#define JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT ((jint)53)
#define JVMPI_EVENT_MONITOR_CONTENDED_ENTER ((jint)54)
#define JVMPI_EVENT_MONITOR_CONTENDED_ENTERED ((jint)55)
#define JVMPI_EVENT_MONITOR_CONTENDED_EXIT ((jint)56)
#define JVMPI_EVENT_MONITOR_WAIT ((jint)57) /* u.monitor_wait; object NULL: Thread.sleep */
#define JVMPI_EVENT_MONITOR_WAITED ((jint)58)
#define JVMPI_EVENT_MONITOR_DUMP ((jint)59) /* u.monitor_dump; on request only */
#define JVMPI_EVENT_GC_START ((jint)60)
#define JVMPI_EVENT_GC_FINISH ((jint)61) /* u.gc_info */
#define JVMPI_MAX_EVENT_TYPE_VAL ((jint)61)

/* Names of before the document, which profilers of the time have (hprof). */
#define JVMPI_EVENT_OBJ_ALLOC JVMPI_EVENT_OBJECT_ALLOC
#define JVMPI_EVENT_OBJ_FREE JVMPI_EVENT_OBJECT_FREE
#define JVMPI_EVENT_OBJ_MOVE JVMPI_EVENT_OBJECT_MOVE
#define JVMPI_EVENT_LOAD_COMPILED_METHOD JVMPI_EVENT_COMPILED_METHOD_LOAD
#define JVMPI_EVENT_UNLOAD_COMPILED_METHOD JVMPI_EVENT_COMPILED_METHOD_UNLOAD
#define JVMPI_EVENT_DUMP_DATA_REQUEST JVMPI_EVENT_DATA_DUMP_REQUEST
#define JVMPI_EVENT_RESET_DATA_REQUEST JVMPI_EVENT_DATA_RESET_REQUEST
#define JVMPI_EVENT_NEW_ARENA JVMPI_EVENT_ARENA_NEW
#define JVMPI_EVENT_DELETE_ARENA JVMPI_EVENT_ARENA_DELETE

/* Ids are opaque. A class is known by the id of its java.lang.Class, a thread by its JNIEnv or the id of its Thread. */
struct _jobjectID;
typedef struct _jobjectID* jobjectID;
struct _JVMPI_RawMonitor;
typedef struct _JVMPI_RawMonitor* JVMPI_RawMonitor;

typedef struct {
  jint lineno; /* -1: unknown, -3: a native method */
  jmethodID method_id;
} JVMPI_CallFrame;

typedef struct {
  JNIEnv* env_id;          /* the thread */
  jint num_frames;         /* filled in */
  JVMPI_CallFrame* frames; /* the callee first; memory of the caller */
} JVMPI_CallTrace;

typedef struct {
  char* field_name;
  char* field_signature;
} JVMPI_Field;

typedef struct {
  jint heap_dump_level;
} JVMPI_HeapDumpArg;

typedef struct {
  jint offset; /* from the start of the compiled code */
  jint lineno;
} JVMPI_Lineno;

typedef struct {
  char* method_name;
  char* method_signature;
  jint start_lineno; /* -1: it has no lines */
  jint end_lineno;
  jmethodID method_id;
} JVMPI_Method;

typedef struct {
  jint event_type;
  JNIEnv* env_id; /* the thread it happened in; NULL in thread suspended mode */

  union {
    struct {
      char* class_name; /* as Class.getName() has it: java.lang.String */
      char* source_name;
      jint num_interfaces;
      jint num_methods;
      JVMPI_Method* methods;
      jint num_static_fields;
      JVMPI_Field* statics;
      jint num_instance_fields; /* those that the class itself declares */
      JVMPI_Field* instances;
      jobjectID class_id;
    } class_load;

    struct {
      jobjectID class_id;
    } class_unload;

    struct {
      unsigned char* class_data;
      jint class_data_len;
      unsigned char* new_class_data; /* memory of malloc_f, or class_data where nothing is changed */
      jint new_class_data_len;
      void* (*malloc_f)(unsigned int);
    } class_load_hook;

    struct {
      jint arena_id;      /* always 1 */
      jobjectID class_id; /* of the object, of the elements where is_array is JVMPI_CLASS, NULL for other arrays */
      jint is_array;      /* JVMPI_NORMAL_OBJECT, JVMPI_CLASS, JVMPI_BOOLEAN... */
      jint size;          /* in bytes */
      jobjectID obj_id;
    } obj_alloc;

    struct {
      jobjectID obj_id;
    } obj_free;

    struct {
      jint arena_id;
      jobjectID obj_id;
      jint new_arena_id;
      jobjectID new_obj_id;
    } obj_move;

    struct {
      jint arena_id;
      char* arena_name;
    } new_arena;

    struct {
      jint arena_id;
    } delete_arena;

    struct {
      char* thread_name;
      char* group_name;
      char* parent_name; /* of the group's parent */
      jobjectID thread_id;
      JNIEnv* thread_env_id;
    } thread_start;

    struct {
      int dump_level;
      char* begin;
      char* end;
      jint num_traces; /* 0 at level 0 */
      JVMPI_CallTrace* traces;
    } heap_dump;

    struct {
      jobjectID obj_id;
      jobject ref_id;
    } jni_globalref_alloc;

    struct {
      jobject ref_id;
    } jni_globalref_free;

    struct {
      jmethodID method_id;
    } method;

    struct {
      jmethodID method_id;
      jobjectID obj_id; /* NULL: a static method */
    } method_entry2;

    struct {
      jmethodID method_id;
      void* code_addr;
      jint code_size;
      jint lineno_table_size;
      JVMPI_Lineno* lineno_table;
    } compiled_method_load;

    struct {
      jmethodID method_id;
    } compiled_method_unload;

    struct {
      jmethodID method_id;
      jint offset; /* in the method's bytecode */
      union {
        struct {
          jboolean is_true;
        } if_info;
        struct {
          jint key;
          jint low;
          jint hi;
        } tableswitch_info;
        struct {
          jint chosen_pair_index;
          jint pairs_total;
        } lookupswitch_info;
      } u;
    } instruction;

    struct {
      char* begin;
      char* end;
      jint num_traces;
      JVMPI_CallTrace* traces;
      jint* threads_status; /* of traces[i].env_id */
    } monitor_dump;

    struct {
      char* name;
      JVMPI_RawMonitor id;
    } raw_monitor;

    struct {
      jobjectID object;
    } monitor;

    struct {
      jobjectID object;
      jlong timeout; /* milliseconds */
    } monitor_wait;

    struct {
      jlong used_objects;
      jlong used_object_space; /* bytes */
      jlong total_object_space;
    } gc_info;

    struct {
      jint data_len;
      char* data;
    } object_dump;
  } u;
} JVMPI_Event;

typedef struct {
  jint version; /* compatible with the one asked for */

  /* The profiler's: set before JVM_OnLoad returns. */
  void (*NotifyEvent)(JVMPI_Event* event);

  /* The JVM's. Events are off at first. HEAP_DUMP, MONITOR_DUMP and OBJECT_DUMP can only be requested; besides them the
     defining events CLASS_LOAD, THREAD_START and OBJECT_ALLOC can, and come before RequestEvent returns. */
  jint (*EnableEvent)(jint event_type, void* arg);
  jint (*DisableEvent)(jint event_type, void* arg);
  jint (*RequestEvent)(jint event_type, void* arg);

  /* Fills in trace->frames, which has room for `depth`, and num_frames, for the thread trace->env_id. */
  void (*GetCallTrace)(JVMPI_CallTrace* trace, jint depth);

  /* Ends the JVM with this exit code. */
  void (*ProfilerExit)(jint err_code);

  /* A raw monitor whose name starts with '_' makes no contention events. */
  JVMPI_RawMonitor (*RawMonitorCreate)(char* lock_name);
  void (*RawMonitorEnter)(JVMPI_RawMonitor lock_id);
  void (*RawMonitorExit)(JVMPI_RawMonitor lock_id);
  void (*RawMonitorWait)(JVMPI_RawMonitor lock_id, jlong ms); /* 0: for ever */
  void (*RawMonitorNotifyAll)(JVMPI_RawMonitor lock_id);
  void (*RawMonitorDestroy)(JVMPI_RawMonitor lock_id);

  jlong (*GetCurrentThreadCpuTime)(void); /* nanoseconds */
  void (*SuspendThread)(JNIEnv* env);
  void (*ResumeThread)(JNIEnv* env);
  jint (*GetThreadStatus)(JNIEnv* env);
  /* Whether a suspended thread has used CPU time since it was suspended the time before. */
  jboolean (*ThreadHasRun)(JNIEnv* env);
  /* A daemon thread of the JVM that runs f(NULL). From JVM_INIT_DONE on; JNI_OK or JNI_ERR. */
  jint (*CreateSystemThread)(char* name, jint priority, void (*f)(void*));
  void (*SetThreadLocalStorage)(JNIEnv* env_id, void* ptr);
  void* (*GetThreadLocalStorage)(JNIEnv* env_id);

  void (*DisableGC)(void); /* may be nested */
  void (*EnableGC)(void);
  void (*RunGC)(void); /* not while GC is disabled */

  jobjectID (*GetThreadObject)(JNIEnv* env);
  jobjectID (*GetMethodClass)(jmethodID mid);

  /* Version 1.1: a local reference, NULL where the object is gone. */
  jobject (*jobjectID2jobject)(jobjectID jid);
  jobjectID (*jobject2jobjectID)(jobject jobj);

  /* Version 1.2: results[i] is JVMPI_SUCCESS or JVMPI_FAIL. */
  void (*SuspendThreadList)(jint count, JNIEnv** threads, jint* results);
  void (*ResumeThreadList)(jint count, JNIEnv** threads, jint* results);
} JVMPI_Interface;

#ifdef __cplusplus
}
#endif

#endif
