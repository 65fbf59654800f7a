// The loaded classes that a name means. Threads: one at a time. Errors: those of ClassModel::all(), of classes_meant().
#pragma once

#include <string>
#include <vector>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

// By the rule of oops/class_names.h; the whole name also in internal form, and without the suffix of a hidden class.
Result<std::vector<Address>> named_classes(const Inspection& inspection, const std::string& wanted);

}  // namespace jtrace::coreinspect
