// OopCoding: how a JVM writes references: compressed (CompressedOops), coloured (ZGC), or as plain addresses. Pure.
#pragma once

#include <bit>
#include <cstdint>

#include "target/memory_reader.h"

namespace jtrace::coreinspect {

struct OopCoding {
  enum class Colour {
    kNone,
    kMasked,   // ZGC of 11 to 20: colours above the address, which the JVM maps once for each (ZAddress)
    kShifted,  // generational ZGC: colours below the address (ZPointer)
  };

  // Of compressed references, which fields and elements of arrays have.
  bool compressed = false;
  target::Address base = 0;
  std::uint32_t shift = 0;

  // Of whole references.
  Colour colour = Colour::kNone;
  std::uint64_t z_offset_mask = 0;  // kMasked: bits of the address within the heap
  std::uint64_t z_good_mask = 0;    // kMasked: the colour that is mapped now
  std::uint64_t z_shift = 0;        // kShifted: of the load barrier now

  // 0 for null, here and below.
  target::Address from_narrow(std::uint32_t narrow) const {
    return narrow == 0 ? 0 : base + (target::Address{narrow} << (shift & 63));
  }

  // As it stands in a root, a handle, or a field that is not compressed.
  target::Address from_root(std::uint64_t raw) const {
    switch (colour) {
      case Colour::kMasked: return (raw & z_offset_mask) == 0 ? 0 : (raw & z_offset_mask) | z_good_mask;
      case Colour::kShifted: return raw == 0 ? 0 : raw >> shift_of(raw);
      case Colour::kNone: break;
    }
    return raw;
  }

  // As it stands in a frame or a lock stack: generational ZGC takes the colour off there.
  target::Address from_stack(std::uint64_t raw) const { return colour == Colour::kShifted ? raw : from_root(raw); }

 private:
  // Which of the four remapped bits is set tells where the address begins, whatever colour is good by now (ZPointer,
  // zAddress.hpp: ZPointerRemappedShift is 12 on x86-64; the address begins after the bit that is set).
  std::uint64_t shift_of(std::uint64_t raw) const {
    constexpr std::uint64_t kRemappedShift = 12;
    const auto bits = static_cast<unsigned>(raw >> kRemappedShift & 15);
    return std::has_single_bit(bits) ? kRemappedShift + 1 + static_cast<std::uint64_t>(std::countr_zero(bits))
                                     : z_shift;
  }
};

}  // namespace jtrace::coreinspect
