// The forms of a stack_map_frame (JVMS 4.7.4), and the writing of those that mean "the same locals as in the previous
// frame".
#pragma once

#include <cstdint>

#include "agent/classfile/bytes.h"

namespace jtrace::agent::classfile {

// A form from kSame or kSameWithItem on has its distance in itself, the others in two bytes. From 248 to kSameFar
// locals are taken away, after kSameFar added.
enum FrameForm : unsigned { kSame = 0, kSameWithItem = 64, kSameWithItemFar = 247, kSameFar = 251, kFull = 255 };
inline constexpr unsigned kUnusedForm = 128;  // from here to kSameWithItemFar

constexpr bool has_own_distance(unsigned form) { return form < kUnusedForm; }
constexpr bool is_valid_form(unsigned form) { return form < kUnusedForm || form >= kSameWithItemFar; }
constexpr unsigned own_distance(unsigned form) { return form % kSameWithItem; }
// The stack has one item, whose type follows.
constexpr bool has_one_item(unsigned form) {
  return (form >= kSameWithItem && form < kUnusedForm) || form == kSameWithItemFar;
}
// How many locals are added, whose types follow.
constexpr unsigned added_locals(unsigned form) { return form > kSameFar && form < kFull ? form - kSameFar : 0; }

// Writes the start of such a frame, `delta` after the nearest place that it could have. With `has_item` the caller adds
// the type of the only item on the stack.
inline void put_same_frame(Bytes& out, std::uint32_t delta, bool has_item) {
  constexpr std::uint32_t kNearest = 64;
  if (delta < kNearest) return put1(out, (has_item ? kSameWithItem : kSame) + delta);
  put1(out, has_item ? kSameWithItemFar : kSameFar);
  put2(out, delta);
}

}  // namespace jtrace::agent::classfile
