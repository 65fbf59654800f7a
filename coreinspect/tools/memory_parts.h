// The parts that a JVM's memory is divided into, and which addresses belong to which. Values; borrow nothing. Threads:
// one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

#include "target/smaps.h"

namespace jtrace::coreinspect {

using target::Address;

enum class MemoryPart : std::uint8_t {
  kHeapUsed,
  kHeapUnused,
  kHeapReserved,
  kMetaspace,
  kClassSpace,
  kCodeCache,
  kJavaStacks,
  kOtherStacks,
  kCardTable,
  kOwnRanges,
  kArchive,
  kMainArena,
  kArenas,
  kBlocks,
  kLibraries,
  kFiles,
  kCounters,
  kReserved,
  kOther,
  kUnknown,
};
inline constexpr std::size_t kMemoryParts = static_cast<std::size_t>(MemoryPart::kUnknown) + 1;

struct MemoryPartText {
  std::string_view name;
  std::string_view how;  // how its addresses are found
};
const MemoryPartText& text_of(MemoryPart part);

// Ranges of addresses with their part. A range keeps the part that it was given first.
class PartMap {
 public:
  // Gives `part` to what of [start, end) has none yet; the ends are aligned outwards to pages.
  void add(Address start, Address end, MemoryPart part);
  bool has(Address at) const;
  // Visits all of [start, end) by address; `otherwise` is the part of what has none.
  void visit(Address start, Address end, MemoryPart otherwise,
             const std::function<void(Address start, Address end, MemoryPart part)>& visitor) const;

 private:
  struct Range {
    Address end = 0;
    MemoryPart part = MemoryPart::kUnknown;
  };
  std::map<Address, Range> ranges_;  // by start; they do not overlap
};

// Private memory without a file and without a name of the kernel's.
bool is_anonymous(const target::Mapping& mapping);
// The part of a mapping by its name and file alone; kUnknown for anonymous memory that is in use, kReserved for such
// that may not be touched. `library`: whether its file is also mapped to be executed.
MemoryPart part_of_mapping(const target::MappedPages& pages, bool library);

}  // namespace jtrace::coreinspect
