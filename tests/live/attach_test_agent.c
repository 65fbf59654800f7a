/* An agent for tests of `load`. Options, separated by blanks: rc=N returns N; out=FILE writes the length of the whole option
   string to FILE; die kills the process; wait=FILE returns once FILE exists. JTRACE_TEST_ENTRY names the entry point. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef JTRACE_TEST_ENTRY
#define JTRACE_TEST_ENTRY Agent_OnAttach
#endif

static const char* value_of(const char* options, const char* key, char* out, size_t size) {
  const char* at = options ? strstr(options, key) : NULL;
  size_t i = 0;
  if (!at) return NULL;
  for (at += strlen(key); *at && *at != ' ' && i + 1 < size; ++at) out[i++] = *at;
  out[i] = '\0';
  return out;
}

int JTRACE_TEST_ENTRY(void* vm, char* options, void* reserved) {
  char text[1024];
  (void)vm;
  (void)reserved;
  if (value_of(options, "out=", text, sizeof text)) {
    FILE* file = fopen(text, "w");
    if (file) {
      fprintf(file, "%zu", strlen(options));
      fclose(file);
    }
  }
  if (options && strcmp(options, "die") == 0) kill(getpid(), SIGKILL);
  if (value_of(options, "wait=", text, sizeof text)) {
    int i;
    for (i = 0; i < 6000 && access(text, F_OK) != 0; ++i) usleep(10000);
  }
  return value_of(options, "rc=", text, sizeof text) ? atoi(text) : 0;
}
