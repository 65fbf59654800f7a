// OopPlace: where a compiled frame has a reference while it is at a call or at a poll. The collector goes by these
// places: what else is in the frame is no reference, or is not used any more.
//
// OopMapValue of oopMap.hpp, JDK 8 to 27; its bits are in vmStructs. Values, without a target. Errors: kMalformed for
// what is not such a map.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace jtrace::coreinspect {

struct OopPlace {
  bool in_register = false;
  bool narrow = false;       // a compressed reference, of four bytes
  std::uint32_t number = 0;  // bytes from the frame's unextended sp; of a register its VMReg
  bool operator==(const OopPlace&) const = default;
};

// What differs between versions: names as in OopMapValue.
struct OopMapRules {
  bool excludes_zero = false;  // Unsigned5Reader
  std::uint32_t type_mask = 3, register_shift = 2, register_mask = 0x3fff;
  std::uint32_t oop_value = 0, narrowoop_value = 1, callee_saved_value = 2, derived_oop_value = 3;
  std::uint32_t stack0 = 0;  // the first VMReg that is a slot of the stack, of four bytes
};

// `count`: of the values in the map; `bytes` may be longer than they are. Pointers into an object are left out: the
// object is in the map too.
Result<std::vector<OopPlace>> decode_oop_map(std::span<const std::byte> bytes, std::uint32_t count,
                                             const OopMapRules& rules);

}  // namespace jtrace::coreinspect
