// Writes the forms of a stack_map_frame (JVMS 4.7.4) that mean "the same locals as in the previous frame".
#pragma once

#include <cstdint>

#include "agent/classfile/bytes.h"

namespace jtrace::agent::classfile {

enum FrameForm : unsigned { kSame = 0, kSameWithItem = 64, kSameWithItemFar = 247, kSameFar = 251, kFull = 255 };

// Writes the start of such a frame, `delta` after the nearest place that it could have. With `has_item` the caller adds
// the type of the only item on the stack.
inline void put_same_frame(Bytes& out, std::uint32_t delta, bool has_item) {
  constexpr std::uint32_t kNearest = 64;
  if (delta < kNearest) return put1(out, (has_item ? kSameWithItem : kSame) + delta);
  put1(out, has_item ? kSameWithItemFar : kSameFar);
  put2(out, delta);
}

}  // namespace jtrace::agent::classfile
