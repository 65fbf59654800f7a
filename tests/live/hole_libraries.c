// Two libraries of the tests: one that ends a JVM while it starts, as an agent; and, empty, a libjvm.so without tables.
#ifdef JTRACE_TEST_ABORT
#include <stdlib.h>
#include <unistd.h>

// Says so and waits for a byte on stdin, so that the test finds the process as it is then.
int Agent_OnLoad(void* vm, char* options, void* reserved) {
  char byte;
  (void)vm, (void)options, (void)reserved;
  if (write(1, "READY\n", 6) == 6 && read(0, &byte, 1) >= 0) abort();
  return 0;
}
#else
int jtrace_test_foreign(void) { return 0; }
#endif
