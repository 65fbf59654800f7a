#include "coreinspect/unwind/java_walker.h"

#include "base/strings.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMaxFrames = 20000;
constexpr Address kWord = 8;
constexpr Address kMaxArguments = 256 * kWord;      // of a method (JVMS 4.3.3)
constexpr std::int64_t kMaxMonitorWords = 1 << 16;  // of the monitor block of an interpreted frame

// ContinuationEntry (continuationEntry.hpp of JDK 21, which does not export its size).
constexpr Address kEntrySize = 56, kStackAlignment = 16;
// What may lie between the last frame and the entry: arguments, saved values; while frames are copied from the heap,
// their place on the stack.
constexpr int kMaxEntrySteps = 16, kMaxThawSteps = 4096;

Address slot(Address fp, int words) { return fp + static_cast<Address>(static_cast<std::int64_t>(words) * 8); }

}  // namespace

std::string_view to_string(FrameKind kind) {
  switch (kind) {
    case FrameKind::kInterpreted: return "interpreted";
    case FrameKind::kCompiled: return "compiled";
    case FrameKind::kInlined: return "inlined";
    case FrameKind::kNative: return "native";
    case FrameKind::kStub: return "stub";
    case FrameKind::kEntry: return "entry";
    case FrameKind::kVm: return "vm";
  }
  return "stub";
}

bool is_of_continuation(const JavaMethod* method, std::string_view name) {
  return method != nullptr && method->class_name == "jdk.internal.vm.Continuation" && method->name == name;
}

bool are_in_chunks(const Frame& frame) { return frame.kind == FrameKind::kStub && frame.name == kFramesInChunks; }

FrameStart running_at(const target::Registers& registers) {
  return {.pc = registers.pc(),
          .sp = registers.sp(),
          .fp = registers.fp(),
          .bcp = registers.bytecodes(),
          .running = true,
          .link = registers.link(),
          .method = registers.method(),
          .sender_sp = registers.sender_sp()};
}

FrameStart JavaWalker::anchor_of(const JavaThread& thread) const {
  FrameStart start{.pc = thread.last_pc, .sp = thread.last_sp, .fp = thread.last_fp};
  if (start.sp != 0 && start.pc == 0) start.pc = return_address(start.sp - kWord).value_or(0);
  return start;
}

// Each return address that is read from a stack or a chunk may be signed.
Result<Address> JavaWalker::return_address(Address at) const {
  JTRACE_ASSIGN_OR_RETURN(const Address pc, word(at));
  return vm_.target().code_address(pc);
}

// In a chunk the saved frame pointer of an interpreted frame is a distance from its slot.
FrameStart JavaWalker::from_chunk(FrameStart start) const {
  if (code_.in_interpreter(start.pc)) start.fp = start.sp - 2 * kWord + start.fp * kWord;
  return start;
}

Walk JavaWalker::walk(const JavaThread& thread, const target::Registers* registers) const {
  FrameStart start = anchor_of(thread);
  if (start.sp == 0) {
    if (!registers || !code_.contains(registers->pc())) return {};
    start = running_at(*registers);
  }
  const StackRange stack{thread.stack_base - thread.stack_size, thread.stack_base};
  std::size_t attempts = 0;
  Walk first = walk_from(stack, start, attempts);
  for (std::size_t i = 1; first.incomplete() && i < std::min(attempts, kMaxAttempts); ++i) {
    start.attempt = i;
    attempts = 0;
    Walk walk = walk_from(stack, start, attempts);
    if (!walk.incomplete()) return walk;
  }
  return first;
}

Walk JavaWalker::walk_from(const StackRange& stack, FrameStart start, std::size_t& attempts) const {
  Walk walk;
  while (start.sp != 0 && walk.stopped.empty() && walk.frames.size() < kMaxFrames) {
    Segment part = segment(stack, start);
    attempts = std::max(attempts, part.attempts);
    walk.frames.insert(walk.frames.end(), part.frames.begin(), part.frames.end());
    walk.stopped = std::move(part.stopped);
    walk.beyond = part.beyond;
    if (part.next.sp != 0 && part.next.sp <= start.sp && walk.stopped.empty())
      walk.stopped = malformed("the frames further out are not further up on the stack", part.next.sp).message();
    start = part.next;
  }
  if (start.sp != 0 && walk.stopped.empty()) walk.stopped = "more than " + std::to_string(kMaxFrames) + " frames";
  return walk;
}

// The outermost frame of a chunk (Continuation.enter, or one that returns into the next chunk) has no caller in it: the
// word is cleared or leads to the return barrier. Its arguments may be between it and the end.
bool JavaWalker::is_end_of_chunk(const StackRange& stack, const Position& at) const {
  return at.sp >= stack.high || at.pc == 0 || is_return_barrier(at.pc) ||
         (!code_.contains(at.pc) && stack.high - at.sp <= kMaxArguments);
}

JavaWalker::Segment JavaWalker::segment(const StackRange& stack, FrameStart start) const {
  Segment segment;
  Position at{.pc = start.pc,
              .sp = start.sp,
              .unextended_sp = start.sp,
              .fp = start.fp,
              .bcp = start.bcp,
              .running = start.running,
              .link = start.link,
              .method = start.method,
              .sender_sp = start.sender_sp,
              .attempt = start.attempt};
  const auto stop = [&](const Error& error) { segment.stopped = error.message(); };
  while (segment.frames.size() < kMaxFrames) {
    const Address before = at.sp;
    if (code_.is_call_stub_return(at.pc)) {
      if (const auto done = step_entry(at, segment); !done) stop(done.error());
      return segment;
    }
    const bool from_stub = segment.frames.size() == 1 && segment.frames[0].kind == FrameKind::kStub && start.running;
    if (from_stub && !code_.contains(at.pc)) {
      segment.native = {.pc = at.pc, .sp = at.sp, .fp = at.fp};
      segment.at_entry = segment.to_native = true;
      return segment;
    }
    if (const auto stepped = step(stack, at, segment); !stepped) {
      stop(stepped.error());
      return segment;
    }
    const bool may_stay = (at.running && vm_.quirks().machine.calls_by_link) || is_at_entry(at);
    at.running = false;
    at.bcp = 0;
    if (stack.in_heap && is_end_of_chunk(stack, at)) return segment;
    if (at.sp < before || (at.sp == before && !may_stay) || !stack.contains(at.sp)) {
      segment.beyond = at.sp >= stack.high;
      stop(malformed("the next frame is not further up on the thread's stack", at.sp));
      return segment;
    }
    if (stack.in_heap) at.fp = from_chunk({.pc = at.pc, .sp = at.sp, .fp = at.fp}).fp;
  }
  segment.stopped = "more than " + std::to_string(kMaxFrames) + " frames";
  return segment;
}

Result<> JavaWalker::step(const StackRange& stack, Position& at, Segment& segment) const {
  if (code_.in_interpreter(at.pc)) return step_interpreter(stack, at, segment);
  if (!code_.contains(at.pc)) return fail(malformed("a return to native code", at.pc));
  JTRACE_ASSIGN_OR_RETURN(const auto blob, code_.find(at.pc));
  if (!blob) return fail(malformed("a return to freed code", at.pc));
  return step_blob(stack, *blob, at, segment);
}

TopFrame::At JavaWalker::top_of(const StackRange& stack, const Position& at) const {
  return {.pc = at.pc, .sp = at.sp, .fp = at.fp, .link = at.link, .sender_sp = at.sender_sp, .high = stack.high};
}

// A running method may not have built its frame yet, or have removed it: then its Method* is in a register.
Result<> JavaWalker::step_interpreter(const StackRange& stack, Position& at, Segment& segment) const {
  if (!at.running || at.attempt == 0) {
    if (at.running) segment.attempts = kMaxAttempts;
    return step_interpreted(stack, at, segment);
  }
  const auto callers = top_.callers_without_frame(top_of(stack, at));
  segment.attempts = callers.size() + 1;
  Frame frame{.kind = FrameKind::kStub, .pc = at.pc, .sp = at.sp, .fp = at.fp, .name = "Interpreter"};
  if (const auto method = methods_.method(at.method); method)
    frame = {.kind = FrameKind::kInterpreted, .method = *method, .bci = 0, .pc = at.pc, .sp = at.sp, .fp = at.fp};
  segment.frames.push_back(std::move(frame));
  if (at.attempt > callers.size()) return fail(malformed("the caller of the interpreter is not known", at.pc));
  at.move_to(callers[at.attempt - 1]);
  at.doubtful = true;
  return {};
}

Result<Address> JavaWalker::call_wrapper(Address entry_fp) const {
  const auto words =
      vm_.types().constant("frame::entry_frame_call_wrapper_offset").value_or(vm_.quirks().machine.entry_wrapper);
  return word(slot(entry_fp, static_cast<int>(words)));
}

// Java was called from the VM: the frames below it, if any, are in the anchor that the call wrapper saved.
Result<> JavaWalker::step_entry(Position& at, Segment& segment) const {
  segment.frames.push_back({.kind = FrameKind::kEntry, .pc = at.pc, .sp = at.sp, .fp = at.fp, .name = "call_stub"});
  JTRACE_ASSIGN_OR_RETURN(const Address wrapper, call_wrapper(at.fp));
  const auto anchor = vm_.types().offset("JavaCallWrapper", "_anchor");
  if (!anchor) return fail(Vm::no_field("JavaCallWrapper", "_anchor"));
  FrameStart& next = segment.next;
  JTRACE_ASSIGN_OR_RETURN(next.sp, vm_.read_pointer(wrapper + *anchor, "JavaFrameAnchor", "_last_Java_sp"));
  if (next.sp != 0) {
    JTRACE_ASSIGN_OR_RETURN(next.pc, vm_.read_pointer(wrapper + *anchor, "JavaFrameAnchor", "_last_Java_pc"));
    JTRACE_ASSIGN_OR_RETURN(next.fp, vm_.read_pointer(wrapper + *anchor, "JavaFrameAnchor", "_last_Java_fp"));
    if (next.pc == 0) next.pc = return_address(next.sp - kWord).value_or(0);
  }
  // The call stub's own frame is an ordinary frame with a frame pointer (StubGenerator::generate_call_stub).
  FrameStart& native = segment.native;
  JTRACE_ASSIGN_OR_RETURN(native.fp, word(at.fp));
  JTRACE_ASSIGN_OR_RETURN(native.pc, return_address(at.fp + kWord));
  native.sp = at.fp + 2 * kWord;
  segment.at_entry = true;
  return {};
}

// The bytecode pointer of a stopped thread may still be in its register. In a chunk, and in some full collections, a
// small number in its slot is the bci itself.
Result<int> JavaWalker::interpreted_bci(const StackRange& stack, const Position& at, const JavaMethod& method) const {
  const auto bci_of = [&](Address bcp) {
    return bcp >= method.code && bcp - method.code < method.code_size ? static_cast<int>(bcp - method.code) : -1;
  };
  if (method.is_native()) return 0;
  if (const int bci = bci_of(at.bcp); at.running && bci >= 0) return bci;
  JTRACE_ASSIGN_OR_RETURN(const Address bcp, word(slot(at.fp, vm_.quirks().machine.bcp)));
  const bool may_be_bci = stack.in_heap || vm_.quirks().full_collection_has_bcis;
  if (may_be_bci && bcp < method.code_size) return static_cast<int>(bcp);
  if (const int bci = bci_of(bcp); bci >= 0) return bci;
  return fail(malformed("an interpreted frame without a bytecode pointer", at.fp));
}

Result<> JavaWalker::step_interpreted(const StackRange& stack, Position& at, Segment& segment) const {
  const MachineRules& rules = vm_.quirks().machine;
  JTRACE_ASSIGN_OR_RETURN(const Address address, word(slot(at.fp, rules.method)));
  auto method = methods_.method(address);
  if (!method) return fail(method.error().with_context("an interpreted frame without a method"));
  JTRACE_ASSIGN_OR_RETURN(const int bci, interpreted_bci(stack, at, **method));
  Frame frame{.kind = FrameKind::kInterpreted, .method = *method, .bci = bci, .pc = at.pc, .sp = at.sp, .fp = at.fp};
  frame.locks = interpreted_locks(stack, at.fp);
  frame.in_chunk = stack.in_heap, frame.oops = stack.oops;
  segment.frames.push_back(std::move(frame));
  const Address fp = at.fp;
  JTRACE_ASSIGN_OR_RETURN(const Address sender_sp, word(slot(fp, rules.sender_sp)));
  at.unextended_sp = stack.in_heap ? fp + sender_sp * kWord : sender_sp;
  JTRACE_ASSIGN_OR_RETURN(at.pc, return_address(fp + kWord));
  JTRACE_ASSIGN_OR_RETURN(at.fp, word(fp));
  at.sp = fp + 2 * kWord;
  at.doubtful = false, at.registers = 0;
  return {};
}

Address JavaWalker::reference_in(const StackRange& stack, Address raw) const {
  return objects_.from_frame(raw, stack.oops);
}

// The monitor block is between the initial sp slot and the place to which that slot points: an address up to 21, later
// words from fp. The last one taken is at the lowest address.
std::vector<Address> JavaWalker::interpreted_locks(const StackRange& stack, Address fp) const {
  std::vector<Address> locks;
  const auto size = vm_.types().size_of("BasicObjectLock");
  const auto object = vm_.types().offset("BasicObjectLock", "_obj");
  const Address bottom = slot(fp, vm_.quirks().machine.initial_sp);
  const auto raw = word(bottom);
  if (!size || *size == 0 || !object || !raw) return locks;
  const auto words = static_cast<std::int64_t>(*raw);
  const Address top = words < 0 && words > -kMaxMonitorWords ? slot(fp, static_cast<int>(words)) : *raw;
  if (top >= bottom || bottom - top > static_cast<Address>(kMaxMonitorWords) * kWord) return locks;
  for (Address at = top; at + *size <= bottom; at += *size) {
    const auto held = word(at + *object);
    if (held && *held != 0) locks.push_back(reference_in(stack, *held));
  }
  return locks;
}

// The barrier is the beginning of a stub: no call is before it.
bool JavaWalker::is_return_barrier(const CodeBlob& blob, Address pc) const {
  if (code_.return_barrier() != 0) return pc == code_.return_barrier();
  return blob.is_continuation_stubs() && !top_.is_after_call(pc);
}
bool JavaWalker::is_return_barrier(Address pc) const {
  if (!code_.contains(pc) || code_.in_interpreter(pc)) return false;
  const auto blob = code_.find(pc);
  return blob && *blob && is_return_barrier(**blob, pc);
}

// In enterSpecial, whose frame begins where that of the barrier ends.
bool JavaWalker::is_at_entry(const Position& at) const { return at.pc != 0 && at.pc == code_.enter_return(); }

bool JavaWalker::is_caller_of_entry(Address pc, Address fp) const {
  Address method = 0;
  if (code_.in_interpreter(pc)) {
    method = word(slot(fp, vm_.quirks().machine.method)).value_or(0);
  } else if (const auto blob = code_.contains(pc) ? code_.find(pc) : Result<std::optional<CodeBlob>>();
             blob && *blob && (*blob)->is_nmethod()) {
    const auto scopes = code_.scopes(**blob, pc);
    method = scopes && !scopes->empty() ? scopes->front().method : (*blob)->method;
  }
  const auto known = method == 0 ? Result<const JavaMethod*>(nullptr) : methods_.method(method);
  return known && is_of_continuation(*known, "run");
}

// Further out than the frames that a continuation has on the stack is its entry, in the frame of
// Continuation.enterSpecial: below the saved frame pointer and the return address.
Result<> JavaWalker::step_continuation(const StackRange& stack, const CodeBlob& blob, Position& at,
                                       Segment& segment) const {
  const bool barrier = is_return_barrier(blob, at.pc);
  const std::string name = barrier ? std::string(kFramesInChunks) : blob.name;
  const int steps = barrier ? kMaxEntrySteps : kMaxThawSteps;
  const Address size =
      (vm_.types().size_of("ContinuationEntry").value_or(kEntrySize) + kStackAlignment - 1) & ~(kStackAlignment - 1);
  Address entry = (at.sp + kStackAlignment - 1) & ~(kStackAlignment - 1);
  for (int i = 0; i < steps && stack.contains(entry + size + kWord); ++i, entry += kStackAlignment) {
    const auto pc = return_address(entry + size + kWord);
    const auto fp = word(entry + size);
    if (!pc || !fp || !is_caller_of_entry(*pc, *fp)) continue;
    segment.frames.push_back({.kind = FrameKind::kStub, .pc = at.pc, .sp = entry, .fp = at.fp, .name = name});
    if (code_.enter_return() != 0)
      at.move_to({.pc = code_.enter_return(), .sp = entry, .unextended_sp = entry, .fp = *fp});
    else at.move_to({.pc = *pc, .sp = entry + size + 2 * kWord, .unextended_sp = entry + size + 2 * kWord, .fp = *fp});
    return {};
  }
  return fail(malformed("the entry of a continuation is not found", at.sp));
}

Result<> JavaWalker::step_blob(const StackRange& stack, const CodeBlob& blob, Position& at, Segment& segment) const {
  if (!at.running && !stack.in_heap && blob.is_continuation_stubs()) return step_continuation(stack, blob, at, segment);
  if (blob.is_nmethod()) {
    JTRACE_RETURN_IF_ERROR(add_compiled(stack, blob, at, segment));
  } else {
    segment.frames.push_back({.kind = FrameKind::kStub, .pc = at.pc, .sp = at.sp, .fp = at.fp, .name = blob.name});
  }
  if (at.running) return step_running(stack, blob, at, segment);
  if (blob.frame_size == 0) return step_stub(stack, blob, at);
  const Address sender = at.unextended_sp + Address{blob.frame_size} * kWord;
  JTRACE_ASSIGN_OR_RETURN(const Address pc, return_address(sender - kWord));
  JTRACE_ASSIGN_OR_RETURN(const Address fp, word(sender - 2 * kWord));
  at.move_to({.pc = pc, .sp = sender, .unextended_sp = sender, .fp = fp});
  if (blob.saves_registers()) at.registers = sender;
  return {};
}

Result<> JavaWalker::step_running(const StackRange& stack, const CodeBlob& blob, Position& at, Segment& segment) const {
  const auto wanted = at.attempt == 0 ? TopFrame::Wanted::kFirst : TopFrame::Wanted::kAll;
  const auto callers = top_.callers(blob, top_of(stack, at), wanted);
  segment.attempts = callers.size() + (wanted == TopFrame::Wanted::kFirst ? 1 : 0);
  if (at.attempt < callers.size()) {
    at.move_to(callers[at.attempt]);
    at.doubtful = at.attempt > 0 || !blob.is_nmethod();
    return {};
  }
  segment.beyond = at.sp + Address{blob.frame_size} * kWord >= stack.high;
  return fail(malformed("the caller of " + blob.name + " is not known", at.pc));
}

// Stubs without a frame of fixed size keep a frame pointer while they call native code.
Result<> JavaWalker::step_stub(const StackRange& stack, const CodeBlob& blob, Position& at) const {
  if (at.fp < at.sp || !stack.contains(at.fp))
    return fail(malformed("code without a frame (" + blob.name + ")", at.pc));
  JTRACE_ASSIGN_OR_RETURN(const Address pc, return_address(at.fp + kWord));
  JTRACE_ASSIGN_OR_RETURN(const Address fp, word(at.fp));
  const Address sender = at.fp + 2 * kWord;
  at.move_to({.pc = pc, .sp = sender, .unextended_sp = sender, .fp = fp});
  return {};
}

Result<> JavaWalker::add_compiled(const StackRange& stack, const CodeBlob& blob, const Position& at,
                                  Segment& segment) const {
  Address pc = at.pc;
  if (code_.is_deopt_return(blob, pc)) {
    JTRACE_ASSIGN_OR_RETURN(pc, code_.original_pc(blob, at.unextended_sp));
  }
  std::vector<ScopeFrame> scopes;
  if (blob.name != "native nmethod") {
    // Debug information of a call is for the pc after it: a running thread at this pc is beyond the call. That of a
    // safepoint poll or of an access that may trap is for the instruction itself.
    JTRACE_ASSIGN_OR_RETURN(scopes, code_.scopes(blob, at.running && top_.is_after_call(pc) ? pc + 1 : pc));
  }
  if (scopes.empty()) scopes.push_back({blob.method, 0});
  const bool at_call = !at.running && !at.doubtful;
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    JTRACE_ASSIGN_OR_RETURN(const JavaMethod* method, methods_.method(scopes[i].method));
    segment.frames.push_back({.kind = i + 1 < scopes.size() ? FrameKind::kInlined : FrameKind::kCompiled,
                              .method = method,
                              .bci = std::max(scopes[i].bci, 0),
                              .pc = at.pc,
                              .sp = at.sp,
                              .fp = at.fp,
                              .locks = compiled_locks(stack, blob, scopes[i], at),
                              .unextended_sp = at.unextended_sp,
                              .in_chunk = stack.in_heap,
                              .oops = stack.oops,
                              .scope = {.locals = scopes[i].locals,
                                        .objects = scopes[i].objects,
                                        .exact = scopes[i].exact && at_call,
                                        .at_call = at_call,
                                        .registers = at.registers}});
  }
  return {};
}

std::vector<Address> JavaWalker::compiled_locks(const StackRange& stack, const CodeBlob& blob, const ScopeFrame& scope,
                                                const Position& at) const {
  std::vector<Address> locks;
  const auto monitors = code_.monitors(blob, scope);
  if (!monitors) return locks;
  for (auto monitor = monitors->rbegin(); monitor != monitors->rend(); ++monitor) {
    if (monitor->eliminated) continue;
    if (const auto object = lock_object(stack, blob, *monitor, at); object && *object != 0) locks.push_back(*object);
  }
  return locks;
}

Result<Address> JavaWalker::lock_object(const StackRange& stack, const CodeBlob& blob, const ScopeMonitor& monitor,
                                        const Position& at) const {
  switch (monitor.place) {
    case ScopeMonitor::Place::kStackNarrow: return objects_.load(at.unextended_sp + monitor.offset);
    case ScopeMonitor::Place::kFramePointer: return reference_in(stack, at.fp);
    case ScopeMonitor::Place::kFramePointerNarrow: return objects_.from_narrow(static_cast<std::uint32_t>(at.fp));
    case ScopeMonitor::Place::kStack: {
      JTRACE_ASSIGN_OR_RETURN(const Address raw, word(at.unextended_sp + monitor.offset));
      return reference_in(stack, raw);
    }
    case ScopeMonitor::Place::kConstant: {
      JTRACE_ASSIGN_OR_RETURN(const Address constant, code_.constant_oop(blob, monitor.offset));
      JTRACE_ASSIGN_OR_RETURN(const Address raw, word(constant));
      return objects_.from_stack(raw);
    }
    case ScopeMonitor::Place::kUnknown: break;
  }
  return Address{0};
}

std::string UnreadStacks::text(std::string_view what) const {
  if (count_ == 0) return {};
  return counted(count_, what) + " could not be read to the end: " + first_ + (count_ > 1 ? ", and others" : "");
}

}  // namespace jtrace::coreinspect
