// Roots of a heap that belong to no thread: JNI global references, classes of the boot loader, monitors in use.
//
// JNIHandles: up to 8 a list of blocks, later an OopStorage, whose layout is not in the tables (11 to 27 have the same,
// checked by its name). Threads: one at a time. `missing` gets a line for what could not be read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

// Object and the address of the handle.
std::vector<std::pair<Address, Address>> jni_globals(const Inspection& inspection, std::vector<std::string>& missing);
// Objects of the local references of a JavaThread.
std::vector<Address> jni_locals(const Inspection& inspection, Address java_thread);
// Classes (Klass) that the boot loader itself defined: no arrays and no hidden classes.
std::vector<Address> sticky_classes(const Inspection& inspection, std::vector<std::string>& missing);
// Objects of the monitors in use, from 17 on. Those of threads are found through the threads.
std::vector<Address> monitors_in_use(const Inspection& inspection);

// Reads what outside of the heap a heap dump takes references from, and keeps nothing: HeapAccessOptions::roots.
void read_roots(const Inspection& inspection);

}  // namespace jtrace::coreinspect
