// References as each kind of collector encodes them.
#include "coreinspect/oops/oop_coding.h"

#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

using Colour = OopCoding::Colour;
using Staleness = OopCoding::Staleness;

TEST(OopCoding, PlainReferencesAreAddresses) {
  const OopCoding plain;
  EXPECT_EQ(plain.from_root(0x7f0012345678), 0x7f0012345678u);
  EXPECT_EQ(plain.from_stack(0x7f0012345678), 0x7f0012345678u);
  EXPECT_EQ(plain.from_root(0), 0u);
}

TEST(OopCoding, CompressedOnesAreShiftedFromTheBase) {
  OopCoding zero_based{.compressed = true, .shift = 3};
  EXPECT_EQ(zero_based.from_narrow(0xffd1a9e8 >> 3), 0xffd1a9e8u);
  const OopCoding based{.compressed = true, .base = 0x800000000, .shift = 3};
  EXPECT_EQ(based.from_narrow(2), 0x800000010u);
  EXPECT_EQ(based.from_narrow(0xffffffff), 0x800000000u + 0x7fffffff8u);
  EXPECT_EQ(based.from_narrow(0), 0u);  // null has no base
}

// JDK 11 to 20: offset in the lower 42 bits, one of four colours above it.
TEST(OopCoding, MaskedColoursAreReplacedByTheOneThatIsMapped) {
  const OopCoding z{.colour = Colour::kMasked, .z_offset_mask = (1ull << 42) - 1, .z_good_mask = 1ull << 44};
  EXPECT_EQ(z.from_root(0x1000 | 1ull << 42), 0x1000 | 1ull << 44);
  EXPECT_EQ(z.from_root(0x1000 | 1ull << 44), 0x1000 | 1ull << 44);
  EXPECT_EQ(z.from_stack(0x1000 | 1ull << 43), 0x1000 | 1ull << 44);
  EXPECT_EQ(z.from_root(1ull << 43), 1ull << 44);  // the object at the heap's start: null has no colour
  EXPECT_EQ(z.from_root(0), 0u);
}

// JDK 21 and later: the address begins after the remapped bit that is set, which may be older than the barrier's.
TEST(OopCoding, ShiftedColoursAreTakenOff) {
  const OopCoding z{.colour = Colour::kShifted, .z_good_mask = 1ull << 12};
  constexpr std::uint64_t kAddress = 0x4000012345678;
  for (unsigned remapped = 0; remapped < 4; ++remapped) {
    const std::uint64_t raw = kAddress << (13 + remapped) | 1ull << (12 + remapped);
    const std::uint64_t kept = kAddress << (13 + remapped) >> (13 + remapped);
    EXPECT_EQ(z.from_root(raw), kept) << remapped;
  }
  EXPECT_EQ(z.from_root(0x1238ull << 13), 0x1238u);          // no colour: treated as by the barrier
  EXPECT_EQ(z.from_stack(0x7f0012345678), 0x7f0012345678u);  // frames have none
  EXPECT_EQ(z.from_root(0), 0u);
}

// A reference with a colour from before the last relocation may lead to the object's old place.
TEST(OopCoding, MaskedReferencesOfBeforeTheRelocationAreStale) {
  constexpr std::uint64_t kMarked0 = 1ull << 42, kMarked1 = 1ull << 43, kRemapped = 1ull << 44;
  OopCoding z{.colour = Colour::kMasked, .z_offset_mask = (1ull << 42) - 1, .z_good_mask = kRemapped};
  EXPECT_EQ(z.staleness(0x1000 | kRemapped), Staleness::kNone);
  EXPECT_EQ(z.staleness(0x1000 | kMarked0), Staleness::kOld);
  z.z_good_mask =
      kMarked1;  // after the next marking: remapped references are right, references from before the marking may not be
  EXPECT_EQ(z.staleness(0x1000 | kMarked1), Staleness::kNone);
  EXPECT_EQ(z.staleness(0x1000 | kRemapped), Staleness::kNone);
  EXPECT_EQ(z.staleness(0x1000 | kMarked0), Staleness::kOld);
  EXPECT_EQ(z.staleness(0), Staleness::kNone);
  EXPECT_EQ(z.at_z_offset(z.z_offset(0x1000 | kMarked0)), 0x1000 | kMarked1);
}

// Remapped00, 01, 10, 11: which generation has moved objects since then.
TEST(OopCoding, ShiftedReferencesTellWhoseRelocationTheyMissed) {
  const auto coloured = [](unsigned remapped) { return 0x40000001000ull << (13 + remapped) | 1ull << (12 + remapped); };
  OopCoding z{.colour = Colour::kShifted, .z_offset_mask = (1ull << 42) - 1, .z_good_mask = 1ull << 15};
  EXPECT_EQ(z.staleness(coloured(3)), Staleness::kNone);
  EXPECT_EQ(z.staleness(coloured(2)), Staleness::kYoung);
  EXPECT_EQ(z.staleness(coloured(1)), Staleness::kOld);
  EXPECT_EQ(z.staleness(coloured(0)), Staleness::kEither);
  EXPECT_EQ(z.staleness(coloured(0) | 0x30), Staleness::kOld);  // the collector wrote it, from old to old
  EXPECT_EQ(z.from_root(coloured(0)), 0x40000001000u);
  EXPECT_EQ(z.at_z_offset(z.z_offset(0x40000001000)), 0x40000001000u);
  EXPECT_EQ(OopCoding{}.staleness(coloured(0)), Staleness::kNone);
}

}  // namespace
}  // namespace jtrace::coreinspect
