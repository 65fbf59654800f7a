#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMaxFrames = 20000;
constexpr Address kWord = 8;

Error stuck(std::string text, Address at) {
  Error error{.category = ErrorCategory::kMalformed, .text = std::move(text)};
  error.address = at;
  return error;
}

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

Walk JavaWalker::walk(const JavaThread& thread, const target::Registers* registers) const {
  if (thread.last_sp != 0) {
    FrameStart start{.pc = thread.last_pc, .sp = thread.last_sp, .fp = thread.last_fp};
    if (start.pc == 0) start.pc = word(start.sp - kWord).value_or(0);
    return walk(thread, start);
  }
  if (!registers || !code_.contains(registers->pc())) return {};
  return walk(thread, FrameStart{.pc = registers->pc(),
                                 .sp = registers->sp(),
                                 .fp = registers->fp(),
                                 .bcp = registers->r13(),
                                 .running = true});
}

Walk JavaWalker::walk(const JavaThread& thread, FrameStart start) const {
  Walk walk;
  Position at{start.pc, start.sp, start.sp, start.fp, start.bcp, start.running};
  while (walk.frames.size() < kMaxFrames) {
    const Address before = at.sp;
    const auto next = step(thread, at, walk);
    if (!next) {
      walk.stopped = next.error().message();
      return walk;
    }
    if (*next == Step::kBottom) return walk;
    at.running = false;
    at.bcp = 0;
    if (at.sp <= before || !thread.has_stack_address(at.sp)) {
      walk.stopped = stuck("the next frame is not further up on the thread's stack", at.sp).message();
      return walk;
    }
  }
  walk.stopped = "more than " + std::to_string(kMaxFrames) + " frames";
  return walk;
}

Result<JavaWalker::Step> JavaWalker::step(const JavaThread& thread, Position& at, Walk& walk) const {
  if (code_.is_call_stub_return(at.pc)) return step_entry(at, walk);
  if (code_.in_interpreter(at.pc)) {
    JTRACE_RETURN_IF_ERROR(step_interpreted(at, walk));
    return Step::kGoOn;
  }
  if (!code_.contains(at.pc)) return fail(stuck("a return to native code", at.pc));
  JTRACE_ASSIGN_OR_RETURN(const auto blob, code_.find(at.pc));
  if (!blob) return fail(stuck("a return to freed code", at.pc));
  (void)thread;
  JTRACE_RETURN_IF_ERROR(step_blob(*blob, at, walk));
  return Step::kGoOn;
}

// Java was called from the VM: the frames below it, if any, stand in the anchor that the call wrapper saved.
Result<JavaWalker::Step> JavaWalker::step_entry(Position& at, Walk& walk) const {
  walk.frames.push_back({.kind = FrameKind::kEntry, .pc = at.pc, .sp = at.sp, .fp = at.fp, .name = "call_stub"});
  const auto words = vm_.types().constant("frame::entry_frame_call_wrapper_offset").value_or(-6);
  JTRACE_ASSIGN_OR_RETURN(const Address wrapper, word(slot(at.fp, static_cast<int>(words))));
  const auto anchor = vm_.types().offset("JavaCallWrapper", "_anchor");
  if (!anchor) return fail(Vm::no_field("JavaCallWrapper", "_anchor"));
  JTRACE_ASSIGN_OR_RETURN(at.sp, vm_.read_pointer(wrapper + *anchor, "JavaFrameAnchor", "_last_Java_sp"));
  if (at.sp == 0) return Step::kBottom;
  JTRACE_ASSIGN_OR_RETURN(at.pc, vm_.read_pointer(wrapper + *anchor, "JavaFrameAnchor", "_last_Java_pc"));
  JTRACE_ASSIGN_OR_RETURN(at.fp, vm_.read_pointer(wrapper + *anchor, "JavaFrameAnchor", "_last_Java_fp"));
  at.unextended_sp = at.sp;
  if (at.pc == 0) {
    JTRACE_ASSIGN_OR_RETURN(at.pc, word(at.sp - kWord));
  }
  return Step::kGoOn;
}

Result<> JavaWalker::step_interpreted(Position& at, Walk& walk) const {
  const JdkQuirks& quirks = vm_.quirks();
  JTRACE_ASSIGN_OR_RETURN(const Address address, word(slot(at.fp, quirks.interpreter_method)));
  auto method = methods_.method(address);
  if (!method) return fail(method.error().with_context("an interpreted frame without a method"));
  const auto bci_of = [&](Address bcp) {
    return bcp >= (*method)->code && bcp - (*method)->code < (*method)->code_size
               ? static_cast<int>(bcp - (*method)->code)
               : -1;
  };
  int bci = at.running ? bci_of(at.bcp) : -1;
  if (bci < 0 && !(*method)->is_native()) {
    JTRACE_ASSIGN_OR_RETURN(const Address bcp, word(slot(at.fp, quirks.interpreter_bcp)));
    bci = bci_of(bcp);
    if (bci < 0) return fail(stuck("an interpreted frame without a bytecode pointer", at.fp));
  }
  walk.frames.push_back({.kind = FrameKind::kInterpreted,
                         .method = *method,
                         .bci = std::max(bci, 0),
                         .pc = at.pc,
                         .sp = at.sp,
                         .fp = at.fp});
  const Address fp = at.fp;
  JTRACE_ASSIGN_OR_RETURN(at.unextended_sp, word(slot(fp, quirks.interpreter_sender_sp)));
  JTRACE_ASSIGN_OR_RETURN(at.pc, word(fp + kWord));
  JTRACE_ASSIGN_OR_RETURN(at.fp, word(fp));
  at.sp = fp + 2 * kWord;
  return {};
}

Result<> JavaWalker::step_blob(const CodeBlob& blob, Position& at, Walk& walk) const {
  const bool before_frame = at.running && at.pc < blob.code_begin + blob.frame_complete;
  if (blob.is_nmethod()) {
    JTRACE_RETURN_IF_ERROR(add_compiled(blob, at, walk));
  } else {
    walk.frames.push_back({.kind = FrameKind::kStub, .pc = at.pc, .sp = at.sp, .fp = at.fp, .name = blob.name});
  }
  if (before_frame || (blob.frame_size == 0 && at.running)) {  // the caller's return address is still on top
    JTRACE_ASSIGN_OR_RETURN(at.pc, word(at.sp));
    at.sp += kWord;
    at.unextended_sp = at.sp;
    return {};
  }
  if (blob.frame_size == 0) return fail(stuck("code without a frame (" + blob.name + ")", at.pc));
  const Address sender = at.unextended_sp + Address{blob.frame_size} * kWord;
  JTRACE_ASSIGN_OR_RETURN(const Address pc, word(sender - kWord));
  JTRACE_ASSIGN_OR_RETURN(const Address fp, word(sender - 2 * kWord));
  at.pc = pc;
  at.fp = fp;
  at.sp = at.unextended_sp = sender;
  return {};
}

Result<> JavaWalker::add_compiled(const CodeBlob& blob, const Position& at, Walk& walk) const {
  Address pc = at.pc;
  if (code_.is_deopt_return(blob, pc)) {
    JTRACE_ASSIGN_OR_RETURN(pc, code_.original_pc(blob, at.unextended_sp));
  }
  std::vector<ScopeFrame> scopes;
  if (blob.name != "native nmethod") {
    JTRACE_ASSIGN_OR_RETURN(scopes, code_.scopes(blob, pc));
  }
  if (scopes.empty()) scopes.push_back({blob.method, 0});
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    JTRACE_ASSIGN_OR_RETURN(const JavaMethod* method, methods_.method(scopes[i].method));
    walk.frames.push_back({.kind = i + 1 < scopes.size() ? FrameKind::kInlined : FrameKind::kCompiled,
                           .method = method,
                           .bci = std::max(scopes[i].bci, 0),
                           .pc = at.pc,
                           .sp = at.sp,
                           .fp = at.fp});
  }
  return {};
}

}  // namespace jtrace::coreinspect
