// Two libraries of the tests: one is an agent that ends a JVM during its start; the other, empty, is a libjvm.so
// without tables.
#ifdef JTRACE_TEST_ABORT
#include <stdlib.h>
#include <unistd.h>

// Prints a line and waits for a byte on stdin, so that the test sees the process in that state.
int Agent_OnLoad(void* vm, char* options, void* reserved) {
  char byte;
  (void)vm, (void)options, (void)reserved;
  if (write(1, "READY\n", 6) == 6 && read(0, &byte, 1) >= 0) abort();
  return 0;
}
#else
int jtrace_test_foreign(void) { return 0; }
#endif
