// The GC locker: native code has an array in a JNI critical region (GetPrimitiveArrayCritical), and a collector that
// moves objects must wait until it gives it back.
//
// GCLocker (gcLocker.hpp; GC_locker in JDK 8) by symbol: _needs_gc and _jni_lock_count before JDK 25,
// _is_gc_request_pending from it on (JDK-8192647). G1 from JDK 22 on, ZGC and Shenandoah do not wait: with them it is
// never wanted. Read without stopping the target.
#pragma once

#include <functional>
#include <optional>

#include "coreinspect/runtime/vm_symbols.h"
#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct GcLocker {
  bool wanted = false;         // a collection waits for native code
  std::optional<int> regions;  // threads in such a region; nothing: this JVM does not count them in one place
};
// Neither a safepoint nor a VM operation is under way now; nothing if that is not known.
using IsQuiet = std::function<std::optional<bool>()>;
// Nothing if this JVM has no symbols for it. May take 20 ms from JDK 25 on.
std::optional<GcLocker> read_gc_locker(const Vm& vm, const VmSymbols& symbols, const IsQuiet& is_quiet);

}  // namespace jtrace::coreinspect
