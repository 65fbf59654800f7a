// The class file of a loaded class (JVMS 4), rebuilt from what the VM keeps of it.
//
// Equal in meaning to the one that was loaded: the same constant pool indices, code as it was before the VM rewrote it,
// methods in the VM's order. What a VM does not keep is not in it: RuntimeInvisible annotations, annotations of types
// inside code, attributes it does not know, Deprecated. Borrows the model. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/runtime/method_model.h"

namespace jtrace::coreinspect {

// `lost`: what could not be told in this JVM, one line each. Errors: those of the memory; kMalformed; kUsage for an
// array class.
Result<std::string> rebuild_class_file(const MethodModel& methods, Address klass, std::vector<std::string>& lost);

}  // namespace jtrace::coreinspect
