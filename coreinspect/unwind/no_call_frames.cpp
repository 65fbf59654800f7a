// In place of native_unwinder_x86_64.cpp where there is no libunwind for that machine (cmake/Dependencies.cmake): its
// native frames are not known then, and the walk reports that. Java frames do not need it.
#include "coreinspect/unwind/native_unwinder.h"

namespace jtrace::coreinspect {

struct NativeUnwinder::Space {};

NativeUnwinder::NativeUnwinder(const target::Target& target, const target::MemoryReader& memory, IsGenerated generated)
    : target_(target), memory_(memory), generated_(std::move(generated)) {}
NativeUnwinder::~NativeUnwinder() = default;

NativeWalk NativeUnwinder::walk_call_frames(const target::Registers& from, bool exact, target::Address) const {
  NativeWalk walk;
  walk.frames.push_back({.pc = from.pc(), .sp = from.sp(), .fp = from.fp(), .exact = exact});
  walk.why = "this jtrace has no libunwind for " + std::string(from.traits().name);
  return walk;
}

}  // namespace jtrace::coreinspect
