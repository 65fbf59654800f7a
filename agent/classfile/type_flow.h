// TypeFlow: the types of the local variables and of the operand stack of a method at each target of a jump, found by
// following its code (as the verifier does for class files without frames, JVMS 4.10.2). One thread; its tables are
// kept from method to method.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/classfile/frame_types.h"
#include "agent/classfile/method_code.h"

namespace jtrace::agent::classfile {

class TypeFlow {
 public:
  // Locals without unknown ones at their end; longs and doubles take two places, the second is kTypeSecond.
  struct Frame {
    std::vector<Type> locals;
    std::vector<Type> stack;
  };

  TypeFlow(const ClassFile& klass, FrameTypes& types) : klass_(klass), types_(types) {}

  // False if the code cannot be followed: it is malformed, has jsr, or needs too much memory. `code` must outlive the
  // use of the results.
  bool run(const Method& method, const MethodCode& code);

  // The frame at the method's start.
  const Frame& start() const { return start_; }
  // Whether the instruction is reachable.
  bool is_reached(std::uint32_t index) const { return reached_[index]; }
  // The frame before an instruction that is the target of a jump or a handler.
  const Frame* frame_at(std::uint32_t index) const {
    return state_at_[index] == kNoState ? nullptr : &states_[state_at_[index]];
  }

 private:
  static constexpr std::uint32_t kNoState = 0xffffffff;

  bool find_block_starts();
  void start_block_at(std::uint32_t index) { starts_block_[index] = true; }
  bool set_start(const Method& method);
  bool run_block(std::uint32_t first);
  void load(const Frame& frame);
  bool flow_to(std::uint32_t index);
  bool flow_to(std::uint32_t index, const std::vector<Type>& stack);
  bool merge_into(std::vector<Type>& into, const std::vector<Type>& from, bool& changed);
  bool flow_to_handlers(const Instruction& at);

  bool step(const Instruction& each);
  bool apply(const char* effect);
  bool step_constant(std::uint16_t index, bool is_wide);
  bool load_local(Type kind, std::uint32_t local);
  bool store_local(Type kind, std::uint32_t local);
  void set_local(std::uint32_t local, Type type);
  bool step_wide(const Instruction& each);
  bool step_stack(std::uint8_t op);
  bool step_field(const Instruction& each);
  bool step_invoke(const Instruction& each);
  bool initialize(Type what);
  bool step_new(const Instruction& each);

  void push(Type type);
  bool pop(Type kind);  // kTypeObject accepts any reference
  bool pop_reference(Type& type);

  const ClassFile& klass_;
  FrameTypes& types_;
  const MethodCode* code_ = nullptr;

  Frame start_;
  std::vector<bool> starts_block_;
  std::vector<bool> reached_;
  std::vector<bool> queued_;
  std::vector<std::uint32_t> queue_;  // a heap: the lowest instruction first
  std::vector<std::uint32_t> state_at_;
  std::vector<Frame> states_;
  std::size_t kept_ = 0;  // places in all states

  // The state before the current instruction.
  std::vector<Type> locals_;
  std::vector<Type> stack_;
  bool locals_changed_ = false;  // by a store
  bool initialized_ = false;     // by a constructor
};

}  // namespace jtrace::agent::classfile
