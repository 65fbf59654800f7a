// SDDF ASCII: the descriptors of EdenTV's traces, as a table. A record is a name and values in the order of its
// descriptor's fields. Here every record begins with a time stamp (seconds and ns as two ints, because an int has 32
// bits), the same as a double in seconds, and the event's number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace jtrace::trace::io {

struct SddfField {
  std::string_view label, text;  // of its comment
  std::string_view type, name;
  bool array = false;
};
struct SddfDescriptor {
  int tag;
  std::string_view description, name;
  std::span<const SddfField> fields;  // after the common three fields and the machine
  bool generic;                       // "Timestamp" and "Processor Number", as in the original files
};
std::span<const SddfDescriptor> sddf_descriptors();
// The head of a file: SDDFA and all descriptors.
std::string sddf_head();

// jtrace's numbers for "Block Reason".
enum class BlockReason { kMonitor = 1, kWait = 2, kSleep = 3 };

}  // namespace jtrace::trace::io
