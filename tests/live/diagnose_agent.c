// An agent whose thread "in-kernel" waits in the kernel, in state D, until the JVM ends: for a child of vfork(2).
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
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

int Agent_OnLoad(void* vm, char* options, void* reserved) {
  pthread_t thread;
  (void)vm, (void)options, (void)reserved;
  return pthread_create(&thread, 0, wait_for_child, 0);
}
