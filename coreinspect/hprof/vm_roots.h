// Roots of a heap that belong to no thread: JNI global references, classes of the boot loader. Monitors are none:
// from JDK 17 on they refer to their objects weakly (ObjectMonitor::_object), before those that nobody uses are taken
// away before each collection; who has one has the object in a frame.
//
// JNIHandles: in JDK 8 a list of blocks, later an OopStorage, whose layout is not in the tables (JDK 11 to 27 have the
// same one, checked by its name). Threads: one at a time. `missing` gets a line for each part that could not be read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

// The objects, with the addresses of their handles.
std::vector<std::pair<Address, Address>> jni_globals(const Inspection& inspection, std::vector<std::string>& missing);
// The objects of the local references that a JavaThread has made since it was called last from native code, and those
// that its structure refers to: exceptions, results.
std::vector<Address> jni_locals(const Inspection& inspection, Address java_thread);
// Those that native code further out has: it has called Java by this JavaCallWrapper.
std::vector<Address> jni_locals_of_call(const Inspection& inspection, Address wrapper);
// Classes (Klass) that the boot loader itself defined: no arrays and no hidden classes.
std::vector<Address> sticky_classes(const Inspection& inspection, std::vector<std::string>& missing);

// Reads everything outside of the heap from which a heap dump takes references, and discards it:
// HeapAccessOptions::roots.
void read_roots(const Inspection& inspection);

}  // namespace jtrace::coreinspect
