// OopCoding: how a JVM encodes references: compressed (CompressedOops), coloured (ZGC), or as plain addresses. Pure.
//
// The colour of a ZGC reference also shows whether the object may have been moved since the reference was written
// (ZAddress, ZPointer, ZBarrier::remap_generation): staleness() determines which tables to search (ZForwardings).
#pragma once

#include <bit>
#include <cstdint>

#include "target/memory_reader.h"

namespace jtrace::coreinspect {

struct OopCoding {
  enum class Colour {
    kNone,
    kMasked,   // ZGC of JDK 11 to 20: colours above the address; the JVM maps the heap once for each colour (ZAddress)
    kShifted,  // generational ZGC: colours below the address (ZPointer)
  };
  enum class Staleness {
    kNone,   // leads to the object
    kYoung,  // the object may have been moved by a collection of the young generation
    kOld,    // the same for the old generation, or for a heap without generations
    kEither,
  };

  // Parameters of compressed references, which fields and array elements have.
  bool compressed = false;
  target::Address base = 0;
  std::uint32_t shift = 0;

  // Parameters of uncompressed references.
  Colour colour = Colour::kNone;
  std::uint64_t z_offset_mask = 0;  // kMasked: bits of the address within the heap
  std::uint64_t z_good_mask = 0;    // kMasked: the colour that is good now; kShifted: the remapped bit that is good now

  std::uint32_t z_pointer_shift = 0;  // kShifted: bits below the address; 0: given by the remapped bit that is set

  // These functions return 0 for null.
  target::Address from_narrow(std::uint32_t narrow) const {
    return narrow == 0 ? 0 : base + (target::Address{narrow} << (shift & 63));
  }

  // Decodes the reference in a root, a handle, or an uncompressed field.
  target::Address from_root(std::uint64_t raw) const {
    switch (colour) {
      // Null has no colour; a coloured 0 is the object at the heap's start.
      case Colour::kMasked: return raw == 0 ? 0 : (raw & z_offset_mask) | z_good_mask;
      case Colour::kShifted: return raw == 0 ? 0 : raw >> shift_of(raw);
      case Colour::kNone: break;
    }
    return raw;
  }

  // Bytes from the start of ZGC's address space.
  std::uint64_t z_offset(target::Address address) const { return address & z_offset_mask; }
  // The reverse; the address is as from_root() returns it.
  target::Address at_z_offset(std::uint64_t offset) const {
    return offset | (colour == Colour::kShifted ? z_offset_mask + 1 : z_good_mask);
  }

  // `raw`: a reference as from_root() takes it.
  Staleness staleness(std::uint64_t raw) const {
    switch (colour) {
      case Colour::kMasked: {
        const std::uint64_t remapped = (z_offset_mask + 1) << 2;  // after Marked0 and Marked1
        const std::uint64_t its = raw & ~z_offset_mask;
        return its == 0 || its == z_good_mask || (its & remapped) != 0 ? Staleness::kNone : Staleness::kOld;
      }
      case Colour::kShifted: return staleness_of_pointer(raw);
      case Colour::kNone: break;
    }
    return Staleness::kNone;
  }

  // Decodes a reference in a frame or a lock stack: generational ZGC removes the colour there.
  target::Address from_stack(std::uint64_t raw) const { return colour == Colour::kShifted ? raw : from_root(raw); }

 private:
  static constexpr std::uint64_t kRemappedShift = 12;
  static constexpr std::uint64_t kRemembered = 3u << 4;  // both bits: written by the collector, from old to old

  // The remapped bits are numbered 00, 01, 10, 11: the parity of the old generation's last relocation, then that of the
  // young one's.
  Staleness staleness_of_pointer(std::uint64_t raw) const {
    const auto its = static_cast<unsigned>(raw >> kRemappedShift & 15);
    const auto good = static_cast<unsigned>(z_good_mask >> kRemappedShift & 15);
    if (!std::has_single_bit(its) || !std::has_single_bit(good) || its == good) return Staleness::kNone;
    const int differ = std::countr_zero(its) ^ std::countr_zero(good);
    if (differ == 1) return Staleness::kYoung;
    if (differ == 2 || (raw & kRemembered) == kRemembered) return Staleness::kOld;
    return Staleness::kEither;
  }

  // The remapped bit that is set (one of four) gives the position of the address, whatever colour is good now
  // (ZPointer, zAddress.hpp: ZPointerRemappedShift; where no fixed number of bits is below the address, it begins after
  // the set bit). A reference without a colour is treated as the load barrier treats it.
  std::uint64_t shift_of(std::uint64_t raw) const {
    if (z_pointer_shift != 0) return z_pointer_shift;
    const auto its = static_cast<unsigned>(raw >> kRemappedShift & 15);
    const auto good = static_cast<unsigned>(z_good_mask >> kRemappedShift & 15);
    const unsigned bit = std::has_single_bit(its) ? its : good;
    return kRemappedShift + 1 + static_cast<std::uint64_t>(std::countr_zero(bit));
  }
};

}  // namespace jtrace::coreinspect
