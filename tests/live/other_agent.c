/* An agent beside jtrace's. At the start of the JVM, options separated by blanks:
     hold   takes every capability that the JVM offers, and keeps it;
     wait   says LOADING on stdout while no Java code can run yet, INITIALIZING when the JVM is in its live phase but has run
            nothing, and goes on at each with the next byte of stdin.
   Loaded by jtrace in the place of its agent (connect=PATH): greets as one of another version, and hangs up.
   Loaded with redefine=PATH: redefines the class Calls with that class file. */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static void wait_for_a_byte(const char* state) {
  char byte;
  if (write(1, state, strlen(state)) > 0 && read(0, &byte, 1) < 0) return;
}

static void JNICALL vm_init(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  (void)jvmti, (void)jni, (void)thread;
  wait_for_a_byte("INITIALIZING\n");
}

EXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* reserved) {
  jvmtiEnv* jvmti = NULL;
  jvmtiCapabilities all;
  jvmtiEventCallbacks callbacks;
  (void)reserved;
  if ((*vm)->GetEnv(vm, (void**)&jvmti, JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  if (options != NULL && strstr(options, "hold") != NULL) {
    memset(&all, 0, sizeof all);
    if ((*jvmti)->GetPotentialCapabilities(jvmti, &all) != JVMTI_ERROR_NONE) return JNI_ERR;
    if ((*jvmti)->AddCapabilities(jvmti, &all) != JVMTI_ERROR_NONE) return JNI_ERR;
  }
  if (options != NULL && strstr(options, "wait") != NULL) {
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.VMInit = vm_init;
    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    wait_for_a_byte("LOADING\n");
  }
  return JNI_OK;
}

static jint redefine(JavaVM* vm, const char* path) {
  enum { kMost = 1 << 20 };
  JNIEnv* jni = NULL;
  jvmtiEnv* jvmti = NULL;
  jvmtiCapabilities wanted;
  jvmtiClassDefinition made;
  unsigned char* bytes = malloc(kMost);
  FILE* file = fopen(path, "rb");
  jint failed = 4;
  if (file == NULL || bytes == NULL) return 4;
  made.class_bytes = bytes;
  made.class_byte_count = (jint)fread(bytes, 1, kMost, file);
  fclose(file);
  memset(&wanted, 0, sizeof wanted);
  wanted.can_redefine_classes = 1;
  if ((*vm)->GetEnv(vm, (void**)&jni, JNI_VERSION_1_6) == JNI_OK &&
      (*vm)->GetEnv(vm, (void**)&jvmti, JVMTI_VERSION_1_2) == JNI_OK &&
      (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
      (made.klass = (*jni)->FindClass(jni, "Calls")) != NULL)
    failed = (jint)(*jvmti)->RedefineClasses(jvmti, 1, &made);
  free(bytes);
  return failed;
}

EXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void* reserved) {
  /* Hello (trace/record/control.h): type, size of the payload, and the version that no jtrace has. */
  const unsigned hello[3] = {1, sizeof(unsigned), 99};
  const char* path = options == NULL ? NULL : strstr(options, "connect=");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  (void)reserved;
  if (options != NULL && strstr(options, "redefine=") != NULL)
    return redefine(vm, strstr(options, "redefine=") + strlen("redefine="));
  if (path == NULL || fd < 0) return 1;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path + strlen("connect="));
  if (connect(fd, (const struct sockaddr*)&address, sizeof address) != 0) return 2;
  if (write(fd, hello, sizeof hello) != (ssize_t)sizeof hello) return 3;
  close(fd);
  return 0;
}
