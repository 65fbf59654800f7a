#include "coreinspect/unwind/mixed_walker.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMaxFrames = 20000;

}  // namespace

struct MixedWalker::State {
  Walk walk;
  StackRange stack;
  FrameStart anchor;            // the next Java frames as the VM knows them; sp 0: none
  target::Registers registers;  // where native unwinding goes on
  bool exact = true;
  FrameStart java;  // where the Java walk goes on
  enum class Next { kNative, kJava, kDone } next = Next::kDone;

  // The VM's mark, if it is further out than `sp`.
  bool go_on_at_anchor(Address sp) {
    if (anchor.sp == 0 || anchor.sp < sp) return false;
    java = std::exchange(anchor, {});
    next = Next::kJava;
    return true;
  }
};

Walk MixedWalker::walk(const JavaThread& thread, const target::Registers& registers) const {
  State state;
  state.stack = {thread.stack_base - thread.stack_size, thread.stack_base};
  if (thread.address != 0) state.anchor = java_.anchor_of(thread);
  if (code_.contains(registers.pc())) {
    state.java = {registers.pc(), registers.sp(), registers.fp(), registers.r13(), true};
    state.next = State::Next::kJava;
  } else {
    state.registers = registers;
    state.next = State::Next::kNative;
  }
  while (state.next != State::Next::kDone && state.walk.frames.size() < kMaxFrames) {
    if (state.next == State::Next::kNative) walk_native(state);
    else walk_java(state);
  }
  return std::move(state.walk);
}

void MixedWalker::walk_native(State& state) const {
  const Address start = state.registers.sp();
  NativeWalk part = native_.walk(state.registers, state.exact, state.stack.high);
  // Frames outside the VM's mark were not unwound correctly: frames of generated code were skipped.
  const auto beyond = [&](Address sp) { return state.anchor.sp != 0 && sp > state.anchor.sp; };
  while (!part.frames.empty() && beyond(part.frames.back().sp)) part.frames.pop_back();
  for (const NativeFrame& frame : part.frames) state.walk.frames.push_back(names_.frame_of(frame));
  state.next = State::Next::kDone;
  if (part.end == NativeWalk::End::kGenerated && !beyond(part.next.sp)) {
    state.java = {part.next.pc, part.next.sp, part.next.fp, part.at_next.r13(), part.next.exact};
    // The mark has the frame pointer, which call frame information may lack.
    if (state.anchor.sp == part.next.sp && state.anchor.fp != 0) state.java.fp = state.anchor.fp;
    if (state.anchor.sp == part.next.sp) state.anchor = {};
    state.next = State::Next::kJava;
    return;
  }
  if (state.go_on_at_anchor(start)) {
    ++state.walk.gaps;
    return;
  }
  if (part.end == NativeWalk::End::kBottom) state.walk.native_bottom = true;
  else state.walk.stopped = part.why;
}

void MixedWalker::walk_java(State& state) const {
  const Address start = state.java.sp;
  auto part = java_.segment(state.stack, state.java);
  state.next = State::Next::kDone;
  for (Frame& frame : part.frames) state.walk.frames.push_back(std::move(frame));
  if (!part.stopped.empty()) {
    if (state.go_on_at_anchor(start + 1)) ++state.walk.gaps;
    else state.walk.stopped = std::move(part.stopped);
    return;
  }
  if (!part.at_entry) return;
  state.anchor = part.next;
  state.registers = {};
  state.registers.values.rip = part.native.pc;
  state.registers.values.rsp = part.native.sp;
  state.registers.values.rbp = part.native.fp;
  state.exact = false;
  state.next = State::Next::kNative;
}

}  // namespace jtrace::coreinspect
