// SlowCallouts: the methods of the class that keep a thread's open calls (open_calls.h), with --slower-than. They write
// no records; native code does for calls that took long.
#pragma once

#include "agent/methods/callout_assembler.h"
#include "agent/methods/open_calls.h"

namespace jtrace::agent {

// The method that puts a call on the thread's stack of open calls, those that give it its receiver
// (as it begins, as its constructor has initialized it), and those that end it.
inline constexpr CalloutMethod kSlowBegin = CalloutMethod::kEnter;
inline constexpr CalloutMethod kSlowReceivers[] = {CalloutMethod::kReceived, CalloutMethod::kConstructed};
inline constexpr WritingCallout kSlowEnds[] = {{CalloutMethod::kExit, record::RecordKind::kMethodExit},
                                               {CalloutMethod::kLeave, record::RecordKind::kMethodUnwind}};

class SlowCallouts : public CalloutAssembler {
 protected:
  using CalloutAssembler::CalloutAssembler;

  void add_slow_callouts() {
    add_push();
    add_receiver(kSlowReceivers[0], true);
    add_receiver(kSlowReceivers[1], false);
    for (const WritingCallout& each : kSlowEnds) add_pop(each.method, each.kind);
  }

 private:
  // kHeader holds the thread's entry, then its stack; kCommitted the depth; kPlace a frame.
  static constexpr Local kStack = kHeader;
  static constexpr Local kDepth = kCommitted;

  void find_frame(CodeBuilder& code) {
    code.op1(kLload, kStack);
    code.push_long(offsetof(OpenCalls::Stack, frames));
    code.op(kLadd);
    code.op1(kLload, kDepth);
    static_assert(sizeof(OpenCalls::Frame) == 1u << 5);
    code.op(kIconst5);
    code.op(kLshl);
    code.op(kLadd);
    code.op1(kLstore, kPlace);
  }
  void store_depth(CodeBuilder& code) {
    push_address(code, kStack, 0);
    code.op1(kLload, kDepth);
    code.op2(kInvokevirtual, put_long_);
  }
  void add_to_depth(CodeBuilder& code, unsigned operation) {
    code.op1(kLload, kDepth);
    code.op(kLconst1);
    code.op(operation);
    code.op1(kLstore, kDepth);
  }
  std::size_t unless_deep(CodeBuilder& code) {  // returns the jump that is taken if the frame does not fit on the stack
    code.op1(kLload, kDepth);
    code.push_long(OpenCalls::kFrames);
    code.op(kLcmp);
    return code.jump(kIfge);
  }

  // A call begins: pushes its method and the time on the thread's stack.
  void add_push() {
    CodeBuilder code(made_.pool());
    const Local thread = thread_ids(code);
    take_cpu_time(code);
    find_entry(code, area_.open_calls().entries_address(), OpenCalls::kEntries, thread);
    const std::size_t not_mine = unless_same(code, offsetof(OpenCalls::Entry, owner), thread);
    load(code, kHeader, offsetof(OpenCalls::Entry, stack));
    code.op1(kLstore, kStack);
    const std::size_t push = code.bytes().size();
    load(code, kStack, offsetof(OpenCalls::Stack, depth));
    code.op1(kLstore, kDepth);
    const std::size_t deep = unless_deep(code);
    find_frame(code);
    push_address(code, kPlace, 0);
    code.op1(classfile::kIload, 0);
    code.op(kI2l);
    code.op2(kInvokevirtual, put_long_);
    store_time(code);
    push_address(code, kPlace, offsetof(OpenCalls::Frame, object));
    code.op(kLconst0);
    code.op2(kInvokevirtual, put_long_);
    if (style_.cpu_time) store_long(code, offsetof(OpenCalls::Frame, cpu_time), kCpuTime);
    const std::size_t count = code.bytes().size();
    add_to_depth(code, kLadd);
    store_depth(code);
    code.op(classfile::kReturn);

    // Calls that do not fit on the stack are only counted. Each 1024th asks again for room.
    static_assert((OpenCalls::kFrames & 1023) == 1023);
    code.land(deep);
    code.op1(kLload, kDepth);
    code.push_long(1023);
    code.op(kLand);
    code.push_long(1023);
    code.op(kLcmp);
    code.jump_back(kIfne, count);
    code.op1(kLload, kCarrier);
    code.op1(kLload, thread);
    code.op2(classfile::kInvokestatic, opened_);
    code.op(kLconst0);
    code.op(kLcmp);
    code.jump_back(classfile::kIfeq, count);
    code.jump_back(classfile::kGoto, push);

    code.land(not_mine);
    load_at(code, area_.switch_address());
    return_if_zero(code);
    code.op1(kLload, kCarrier);
    code.op1(kLload, thread);
    code.op2(classfile::kInvokestatic, opened_);
    code.op(classfile::kDup2);
    code.op1(kLstore, kStack);
    return_if_zero(code);
    code.jump_back(classfile::kGoto, push);
    add_method(kSlowBegin, code);
  }

  // The receiver of a call that begins, or of a constructor that has just initialized its object. Native code stores it
  // in the call's frame.
  void add_receiver(CalloutMethod method, bool enters) {
    CodeBuilder code(made_.pool());
    if (enters) {
      code.op1(classfile::kIload, 1);
      code.op2(classfile::kInvokestatic, enter_);
    }
    load_at(code, area_.switch_address());
    return_if_zero(code);
    const Local thread = thread_ids(code);
    code.op(classfile::kAload0);
    code.op1(classfile::kIload, 1);
    code.op(classfile::kIconst0 + (enters ? 0u : 1u));
    code.op1(kLload, thread);
    code.op2(classfile::kInvokestatic, received_);
    code.op(classfile::kReturn);
    add_method(method, code);
  }

  // A call ends: pops it. If it took long, or is not the innermost one, native code handles it.
  void add_pop(CalloutMethod method, record::RecordKind kind) {
    CodeBuilder code(made_.pool());
    const Local thread = thread_ids(code);
    find_entry(code, area_.open_calls().entries_address(), OpenCalls::kEntries, thread);
    const std::size_t not_mine = unless_same(code, offsetof(OpenCalls::Entry, owner), thread);
    load(code, kHeader, offsetof(OpenCalls::Entry, stack));
    code.op1(kLstore, kStack);
    load(code, kStack, offsetof(OpenCalls::Stack, depth));
    code.op(classfile::kDup2);
    code.op1(kLstore, kDepth);
    return_if_zero(code);
    add_to_depth(code, kLsub);
    const std::size_t deep = unless_deep(code);
    find_frame(code);
    load(code, kPlace, offsetof(OpenCalls::Frame, method));
    code.op1(classfile::kIload, 0);
    code.op(kI2l);
    code.op(kLcmp);
    const std::size_t other = code.jump(kIfne);
    push_time(code);
    load(code, kPlace, offsetof(OpenCalls::Frame, start));
    code.op(kLsub);
    load(code, kStack, offsetof(OpenCalls::Stack, threshold));
    code.op(kLcmp);
    const std::size_t late = code.jump(kIfge);
    code.land(deep);
    store_depth(code);
    if (facts_.virtual_threads) add_idle(code);
    code.land(not_mine);
    code.op(classfile::kReturn);

    code.land(other);
    code.land(late);
    code.op1(classfile::kIload, 0);
    code.op1(classfile::kBipush, static_cast<unsigned>(kind));
    code.op2(classfile::kInvokestatic, ended_);
    code.op(classfile::kReturn);
    add_method(method, code);
  }
  // A virtual thread without open calls gives its stack back, because there may be many virtual threads.
  void add_idle(CodeBuilder& code) {
    code.op1(kLload, kDepth);
    code.op(kLconst0);
    code.op(kLcmp);
    const std::size_t is_busy = code.jump(kIfne);
    code.op1(kLload, kCarrier);
    code.op1(kLload, kThread);
    code.op(kLcmp);
    const std::size_t is_virtual = code.jump(kIfne);
    code.op(classfile::kReturn);
    code.land(is_virtual);
    code.op1(kLload, kThread);
    code.op2(classfile::kInvokestatic, idle_);
    code.land(is_busy);
  }
};

}  // namespace jtrace::agent
