// Which arrays of a heap dump hold the contents of the fields that a redaction keeps: those that the fields refer to,
// straight, as the text of a string, or as elements of an array.
//
// Borrows the dump. Threads: any. Time: four passes over its objects at most.
#pragma once

#include <unordered_set>

#include "coreinspect/graph/hprof_file.h"
#include "coreinspect/hprof/redaction.h"

namespace jtrace::coreinspect {

// Their ids. kNotFound if one of the patterns is not a field of the dump.
Result<std::unordered_set<std::uint64_t>> find_kept_arrays(const HprofFile& file, const KeptFields& kept);

}  // namespace jtrace::coreinspect
