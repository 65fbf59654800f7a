/* Shared by the files of the exercising profiler. */
#ifndef JTRACE_TESTS_LIVE_JVMPI_EXERCISER_H
#define JTRACE_TESTS_LIVE_JVMPI_EXERCISER_H

#include <stdio.h>

#include "agent/jvmpi/jvmpi.h"

struct ClassFacts {
  jobjectID id;
  char* name;
  int interfaces, statics;
  char* static_types; /* first characters of their signatures */
  long objects;       /* OBJECT_ALLOC of it */
  struct ClassFacts* next;
};

extern JVMPI_Interface* jvmpi;

/* Adds one line to the report. */
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
struct ClassFacts* find_class(jobjectID id);
struct ClassFacts* find_class_named(const char* name);
JNIEnv* main_thread(void);
enum { kEnding = 16 };
JNIEnv* ending_thread(int i); /* one of the last kEnding threads "ending-N"; it may have ended; NULL: not so many */
int enterer_is_waiting(void); /* JvmpiZoo thread that finds the monitor held */
const char* requested_thread(void); /* the name in the last requested THREAD_START */
int object_is_known(jobjectID id);  /* it had its OBJECT_ALLOC */
long count_of(jint type);
long requested_of(jint type);

/* exerciser_steps.c */
void do_step(const char* name, JNIEnv* env);
/* exerciser_dumps.c */
void heap_dumped(JVMPI_Event* event);
void object_dumped(JVMPI_Event* event);
void monitors_dumped(JVMPI_Event* event);
jobjectID dumped_animal(void); /* the JvmpiZoo.Animal that the last heap dump had */

#endif
