// An agent with threads that wait below Java; its option says which:
//   kernel   "in-kernel" waits in the kernel, in state D, until the JVM ends: for a child of vfork(2)
//   crossed  "cross-1" and "cross-2" each have one mutex and want the other's
//   take     "taker" takes the pthread_mutex_t whose address is in the file "mutex" of the working folder, and keeps it
//   critical "critical" takes an array of the heap into a JNI critical region when the file "critical" is in the working
//            folder, removes the file, and keeps the array
#define _GNU_SOURCE
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void* wait_for_child(void* unused) {
  (void)unused;
  pthread_setname_np(pthread_self(), "in-kernel");
  const pid_t child = vfork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (1) pause();
  }
  return 0;
}

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void cross(const char* name, pthread_mutex_t* own, pthread_mutex_t* other) {
  pthread_setname_np(pthread_self(), name);
  pthread_mutex_lock(own);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(other);
}

static void* cross_first(void* unused) {
  (void)unused;
  cross("cross-1", &first, &second);
  return 0;
}

static void* cross_second(void* unused) {
  (void)unused;
  cross("cross-2", &second, &first);
  return 0;
}

static void* take(void* unused) {
  (void)unused;
  pthread_setname_np(pthread_self(), "taker");
  void* mutex = 0;
  while (!mutex) {
    FILE* file = fopen("mutex", "r");
    if (file && fscanf(file, "%p", &mutex) != 1) mutex = 0;
    if (file) fclose(file);
    usleep(10000);
  }
  pthread_mutex_lock(mutex);
  remove("mutex");  // the test waits for this
  while (1) pause();
}

static void* keep_array(void* vm) {
  pthread_setname_np(pthread_self(), "critical");
  JNIEnv* jni = 0;
  while (access("critical", F_OK) != 0) usleep(10000);
  if ((*(JavaVM*)vm)->AttachCurrentThreadAsDaemon(vm, (void**)&jni, 0) != JNI_OK) return 0;
  jbyteArray array = (*jni)->NewByteArray(jni, 1000);
  if (!(*jni)->GetPrimitiveArrayCritical(jni, array, 0)) return 0;
  remove("critical");  // the test waits for this
  while (1) pause();
}

static int start_with(void* (*body)(void*), void* argument) {
  pthread_t thread;
  return pthread_create(&thread, 0, body, argument);
}

static int start(void* (*body)(void*)) { return start_with(body, 0); }

int Agent_OnLoad(void* vm, char* options, void* reserved) {
  (void)reserved;
  if (!options) return 1;
  if (!strcmp(options, "kernel")) return start(wait_for_child);
  if (!strcmp(options, "take")) return start(take);
  if (!strcmp(options, "critical")) return start_with(keep_array, vm);
  pthread_barrier_init(&both, 0, 2);
  return start(cross_first) + start(cross_second);
}
