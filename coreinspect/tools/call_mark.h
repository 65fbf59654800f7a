// A mark of the call that a thread is in: where two looks give the same mark, it was the same call.
//
// Code of C2 does not count its calls, so equal frames are no evidence. But what runs in code that was entered in the
// middle of a loop (on-stack replacement) began in the interpreter or in code of C1, and these count each call of the
// method in its MethodCounters or its MethodData (templateInterpreterGenerator, c1_LIRGenerator): if the counts are
// the same later, no call of it has begun in between, by any thread. A loop that calls other methods gives no mark: it
// may be the outermost one of a healthy thread, with the calls that it makes compiled into it.
#pragma once

#include <cstdint>

#include "coreinspect/model/inspection.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

// Of the innermost frame of Java in a walk. 0: it cannot be known. Reads the present counts, past the VM's cache.
// Threads: one at a time.
std::uint64_t mark_of_call(const Inspection& inspection, const Walk& walk);

// Whether it runs a method that is not the JDK's.
bool is_of_the_program(const Frame& frame);

// Of the innermost frame that is not the JDK's, if the interpreter runs it: it counts the calls of the method, and the
// turns of its loops. Where both are the same later, the method was not called again, and is in the same call of what
// it calls. 0: it cannot be known.
std::uint64_t mark_of_own_call(const Inspection& inspection, const Walk& walk);

}  // namespace jtrace::coreinspect
