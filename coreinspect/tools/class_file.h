// The class file of a loaded class (JVMS 4), rebuilt from the VM's data.
//
// It is equal in meaning to the file that was loaded: the same constant pool indices, code as it was before the VM
// rewrote it, methods in the VM's order. It lacks what a VM does not keep: RuntimeInvisible annotations, annotations of
// types inside code, unknown attributes, Deprecated. Borrows the model. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/runtime/method_model.h"

namespace jtrace::coreinspect {

// `lost`: what could not be read in this JVM, one line each. Errors: those of the memory; kMalformed; kUsage for an
// array class.
Result<std::string> rebuild_class_file(const MethodModel& methods, Address klass, std::vector<std::string>& lost);

}  // namespace jtrace::coreinspect
