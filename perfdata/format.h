// hsperfdata, format 2.0: the layout of the memory region (and file) in which HotSpot keeps its performance counters.
//
// Source of the constants: HotSpot share/runtime/perfMemory.hpp (PerfDataPrologue, PerfDataEntry, PERFDATA_* macros)
// and share/runtime/perfData.hpp (PerfData::Units, PerfData::Variability, PerfData::Flags); the same from JDK 8 to
// JDK 27.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jtrace::perfdata {

constexpr std::uint32_t kMagic = 0xcafec0c0;  // always in big-endian order, whatever byte_order says
constexpr std::size_t kPrologueSize = 32;
constexpr std::size_t kEntryHeaderSize = 20;
// No region is larger: -XX:PerfDataMemorySize allows up to 2 MiB; an invalid prologue could claim 2 GiB.
constexpr std::size_t kMaxRegionSize = 16u << 20;

// Offsets of the prologue's fields.
constexpr std::size_t kByteOrderOffset = 4;
constexpr std::size_t kMajorOffset = 5;
constexpr std::size_t kMinorOffset = 6;
constexpr std::size_t kAccessibleOffset = 7;
constexpr std::size_t kUsedOffset = 8;
constexpr std::size_t kOverflowOffset = 12;
constexpr std::size_t kModificationOffset = 16;
constexpr std::size_t kEntryOffsetOffset = 24;
constexpr std::size_t kEntryCountOffset = 28;

enum class Units : std::uint8_t { kNone = 1, kBytes = 2, kTicks = 3, kEvents = 4, kString = 5, kHertz = 6 };
enum class Variability : std::uint8_t { kConstant = 1, kMonotonic = 2, kVariable = 3 };
constexpr std::uint8_t kFlagSupported = 1;  // PerfData::F_Supported: java.* and com.sun.* counters

struct Prologue {
  std::endian byte_order = std::endian::little;
  std::uint8_t major = 0;
  std::uint8_t minor = 0;
  bool accessible = false;           // the JVM has initialised far enough for readers
  std::uint32_t used = 0;            // bytes, prologue included
  std::uint32_t overflow = 0;        // bytes of counters that did not fit and are not visible
  std::int64_t modification_ns = 0;  // os::elapsed_counter of the last new entry (ns since the VM's start on Linux)
  std::uint32_t entry_offset = 0;
  std::uint32_t entry_count = 0;  // as declared; raised before the entry is filled in

  friend bool operator==(const Prologue&, const Prologue&) = default;
};
// True if both prologues describe the same entries, on which a Layout depends. The other fields are values like any
// other.
inline bool same_entries(const Prologue& a, const Prologue& b) {
  return a.byte_order == b.byte_order && a.used == b.used && a.entry_offset == b.entry_offset &&
         a.entry_count == b.entry_count;
}

// HotSpot's words ("Bytes", "Monotonic"), or "Unknown" for a number it does not define.
std::string_view units_name(std::uint8_t units);
std::string_view variability_name(std::uint8_t variability);

}  // namespace jtrace::perfdata
