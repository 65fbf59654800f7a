// The three flags that switch probes on, read out of a live JVM (HotSpot's flag table, found through vmStructs.hpp's
// exported tables gHotSpotVMStructs and gHotSpotVMTypes). Nothing is written. Threads: any.
//
// The VM model of coreinspect/ reads the same tables, and all of them; this is the little that the probes need.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "target/memory_reader.h"

namespace jtrace::dtrace {

struct VmFlag {
  bool on = false;
  target::Address address = 0;  // of its byte
};

// The flags whose names start with "DTrace" or "ExtendedDTrace", by name. `tables`: the addresses in the target of the
// symbols kVmTableSymbols, in their order. Errors: kMalformed, where the tables are not as they should be; kSystem,
// unreadable.
Result<std::map<std::string, VmFlag>> read_probe_flags(const target::MemoryReader& memory,
                                                       const std::vector<target::Address>& tables);

inline constexpr std::string_view kVmTableSymbols[] = {
    "gHotSpotVMStructs",
    "gHotSpotVMStructEntryTypeNameOffset",
    "gHotSpotVMStructEntryFieldNameOffset",
    "gHotSpotVMStructEntryOffsetOffset",
    "gHotSpotVMStructEntryAddressOffset",
    "gHotSpotVMStructEntryArrayStride",
    "gHotSpotVMTypes",
    "gHotSpotVMTypeEntryTypeNameOffset",
    "gHotSpotVMTypeEntrySizeOffset",
    "gHotSpotVMTypeEntryArrayStride",
};

}  // namespace jtrace::dtrace
