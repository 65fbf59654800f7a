// An agent with threads that wait below Java; its option says which:
//   kernel   "in-kernel" waits in the kernel, in state D, until the JVM ends: for a child of vfork(2)
//   crossed  "cross-1" and "cross-2" each have one mutex and want the other's
//   mixed    when the file "mixed" is in the working folder, "mixed-1" has a monitor and wants a mutex, which "mixed-2"
//            has, who wants the monitor
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

static pthread_mutex_t below = PTHREAD_MUTEX_INITIALIZER;

// The lock is that of a class which every thread finds.
static void mix(JavaVM* vm, char* name, int monitor_first) {
  JNIEnv* jni = 0;
  JavaVMAttachArgs arguments = {JNI_VERSION_1_6, name, 0};
  pthread_setname_np(pthread_self(), name);
  while (access("mixed", F_OK) != 0) usleep(10000);
  if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void**)&jni, &arguments) != JNI_OK) return;
  jclass lock = (*jni)->FindClass(jni, "java/lang/Void");
  if (monitor_first) (*jni)->MonitorEnter(jni, lock);
  else pthread_mutex_lock(&below);
  pthread_barrier_wait(&both);
  if (monitor_first) pthread_mutex_lock(&below);
  else (*jni)->MonitorEnter(jni, lock);
}

static void* mix_monitor_first(void* vm) {
  mix(vm, "mixed-1", 1);
  return 0;
}

static void* mix_mutex_first(void* vm) {
  mix(vm, "mixed-2", 0);
  return 0;
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
  if (!strcmp(options, "mixed")) return start_with(mix_monitor_first, vm) + start_with(mix_mutex_first, vm);
  return start(cross_first) + start(cross_second);
}
