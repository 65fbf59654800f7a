// HeapCounters: the used size of the heap, from the JVM's own performance counters (its hsperfdata file, mapped in this
// process). They can be read when nothing else is allowed: in the pause of a collection.
#pragma once

#include <jni.h>

#include <atomic>
#include <vector>

namespace jtrace::agent::jvmpi {

struct HeapFigures {
  jlong used = 0;  // bytes; both 0: the JVM has no such counters
  jlong total = 0;
};

class HeapCounters {
 public:
  // Looks for them; call it once, when the collector has made its counters. Finds nothing with -XX:-UsePerfData and
  // -XX:+PerfDisableSharedMem, and with collectors that count differently (Z, Shenandoah, Epsilon).
  void find();
  HeapFigures read() const;

 private:
  std::vector<const volatile jlong*> used_, total_;
};

}  // namespace jtrace::agent::jvmpi
