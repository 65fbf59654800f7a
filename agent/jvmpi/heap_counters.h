// HeapCounters: how full the heap is, from the JVM's own performance counters (its hsperfdata file, mapped in this
// process). They can be read where nothing else is allowed: in the pause of a collection.
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
  // Looks for them; once, in a JVM whose collector has made its counters. Nothing is found with -XX:-UsePerfData and
  // -XX:+PerfDisableSharedMem, and with collectors that count otherwise (Z, Shenandoah, Epsilon).
  void find();
  HeapFigures read() const;

 private:
  std::vector<const volatile jlong*> used_, total_;
};

}  // namespace jtrace::agent::jvmpi
