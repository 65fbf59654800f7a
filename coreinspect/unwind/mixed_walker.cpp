#include "coreinspect/unwind/mixed_walker.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMaxFrames = 20000;

}  // namespace

struct MixedWalker::State {
  Walk walk;
  StackRange stack;
  FrameStart anchor;            // the next Java frames as the VM knows them; sp 0: none
  target::Registers registers;  // where native unwinding continues
  bool exact = true;
  FrameStart java;  // where the Java walk continues
  std::size_t attempt = 0, attempts = 0;
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
  std::size_t attempts = 0;
  Walk best = attempt(thread, registers, 0, attempts);
  for (std::size_t i = 1; best.incomplete() && i < std::min(attempts, kMaxAttempts); ++i) {
    Walk walk = attempt(thread, registers, i, attempts);
    // A walk that leaves the known part of the stack is closer to the truth than one that leads nowhere.
    if (!walk.incomplete() || (walk.beyond && !best.beyond)) best = std::move(walk);
  }
  return best;
}

Walk MixedWalker::attempt(const JavaThread& thread, const target::Registers& registers, std::size_t attempt,
                          std::size_t& attempts) const {
  State state;
  state.attempt = attempt;
  state.registers.isa = registers.isa;
  state.stack = {thread.stack_base - thread.stack_size, thread.stack_base};
  if (thread.address != 0) state.anchor = java_.anchor_of(thread);
  if (code_.contains(registers.pc())) {
    state.java = running_at(registers);
    state.next = State::Next::kJava;
  } else {
    state.registers = registers;
    state.next = State::Next::kNative;
  }
  while (state.next != State::Next::kDone && state.walk.frames.size() < kMaxFrames) {
    if (state.next == State::Next::kNative) walk_native(state);
    else walk_java(state);
  }
  if (state.next != State::Next::kDone && state.walk.stopped.empty())
    state.walk.stopped = "more than " + std::to_string(kMaxFrames) + " frames";
  attempts = state.attempts;
  return std::move(state.walk);
}

// The VM's mark is of the code to which native frames return: nothing is between them.
bool MixedWalker::is_mark_of(const FrameStart& anchor, Address pc) const {
  if (anchor.sp == 0) return false;
  if (code_.in_interpreter(anchor.pc) || code_.in_interpreter(pc))
    return code_.in_interpreter(anchor.pc) && code_.in_interpreter(pc);
  const auto marked = code_.find(anchor.pc), found = code_.find(pc);
  return marked && found && *marked && *found && (*marked)->address == (*found)->address;
}

// An interpreter's frame, and that of the call stub, is found by its frame pointer alone.
bool MixedWalker::is_enough(const NativeWalk& part) const {
  return part.sp_known || code_.in_interpreter(part.next.pc) || code_.is_call_stub_return(part.next.pc);
}

void MixedWalker::walk_native(State& state) const {
  const Address start = state.registers.sp();
  NativeWalk part = native_.walk(state.registers, state.exact, state.stack.high);
  // Frames outside the VM's mark were not unwound correctly: frames of generated code were skipped.
  const auto beyond = [&](Address sp) { return state.anchor.sp != 0 && sp > state.anchor.sp; };
  while (!part.frames.empty() && beyond(part.frames.back().sp)) part.frames.pop_back();
  for (const NativeFrame& frame : part.frames) state.walk.frames.push_back(names_.frame_of(frame));
  state.next = State::Next::kDone;
  if (part.end == NativeWalk::End::kGenerated && !part.sp_known && is_mark_of(state.anchor, part.next.pc) &&
      state.go_on_at_anchor(start))
    return;
  if (part.end == NativeWalk::End::kGenerated && !beyond(part.next.sp) && is_enough(part)) {
    state.java = running_at(part.at_next);
    state.java.running = part.next.exact;
    // The mark has the frame pointer where it matters and call frame information might not.
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
  else if (part.end == NativeWalk::End::kGenerated) {
    state.walk.stopped =
        "generated code that was called without a mark of the VM: its frame is not known from frame records";
  } else {
    state.walk.stopped = part.why;
    state.walk.beyond = part.beyond;
  }
}

void MixedWalker::walk_java(State& state) const {
  const Address start = state.java.sp;
  state.java.attempt = state.java.running ? state.attempt : 0;
  auto part = java_.segment(state.stack, state.java);
  state.attempts = std::max(state.attempts, part.attempts);
  state.next = State::Next::kDone;
  for (Frame& frame : part.frames) state.walk.frames.push_back(std::move(frame));
  if (!part.stopped.empty()) {
    if (state.go_on_at_anchor(start + 1)) ++state.walk.gaps;
    else state.walk.stopped = std::move(part.stopped), state.walk.beyond = part.beyond;
    return;
  }
  if (!part.at_entry) return;
  if (part.to_native && !native_.knows(part.native.pc)) {
    state.walk.stopped = malformed("a return to native code", part.native.pc).message();
    return;
  }
  if (!part.to_native) state.anchor = part.next;
  state.registers = target::Registers::at(state.registers.isa, part.native.pc, part.native.sp, part.native.fp);
  state.exact = false;
  state.next = State::Next::kNative;
}

}  // namespace jtrace::coreinspect
