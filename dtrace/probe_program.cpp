#include "dtrace/probe_program.h"

#include <algorithm>
#include <cstddef>

#include "dtrace/bpf_assembler.h"

namespace jtrace::dtrace {
namespace {

using Reg = BpfRegister;
using Label = BpfAssembler::Label;

// Helpers of the kernel (linux/bpf.h, BPF_FUNC_*; get_attach_cookie: Linux 5.15).
constexpr int kRingNoWakeup = 1;  // BPF_RB_NO_WAKEUP: the reader polls
constexpr std::size_t kStackRoom = sizeof(StackHeader) + kStackPages * kStackPage;

// Offset of a register in the context (kStackRegisters).
constexpr std::int16_t offset_of(std::size_t word) { return static_cast<std::int16_t>(8 * word); }
constexpr const target::IsaTraits& kMachine = target::kNativeTraits;

// Registers through the program: R6 context, R7 the site's number, later the record, R8 the site's counters, R9 thread.
class ProgramMaker {
 public:
  ProgramMaker(const std::vector<TracedSite>& sites, const ProgramMaps& maps, std::uint32_t tgid)
      : sites_(sites), maps_(maps), tgid_(tgid) {}

  Result<std::vector<bpf_insn>> make() {
    lost_ = code_.new_label();
    end_ = code_.new_label();
    send_text_ = code_.new_label();
    copy_stack_ = code_.new_label();
    begin();
    for (std::size_t i = 0; i < sites_.size(); ++i) blocks_.push_back(code_.new_label());
    dispatch(0, sites_.size());
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      code_.place(blocks_[i]);
      block(i);
    }
    code_.place(lost_);
    count(offsetof(SiteCounters, lost));
    code_.place(end_);
    code_.move(Reg::kR0, 0);
    code_.exit();
    if (texts_used_) send_text();
    if (stacks_used_) copy_stack();
    return code_.finish();
  }

 private:
  void count(std::size_t counter) {
    code_.move(Reg::kR1, 1);
    code_.atomic_add(Reg::kR8, static_cast<std::int16_t>(counter), Reg::kR1);
  }

  void begin() {
    code_.move(Reg::kR6, Reg::kR1);
    code_.call_helper(BPF_FUNC_get_current_pid_tgid);
    code_.move(Reg::kR9, Reg::kR0);
    if (tgid_ != 0) {
      code_.shift_right(Reg::kR0, 32);
      code_.jump_if(BPF_JNE, Reg::kR0, static_cast<std::int32_t>(tgid_), end_);
    }
    code_.move(Reg::kR1, Reg::kR6);
    code_.call_helper(BPF_FUNC_get_attach_cookie);
    code_.move(Reg::kR7, Reg::kR0);
    code_.jump_if(BPF_JGE, Reg::kR7, static_cast<std::int32_t>(sites_.size()), end_);
    code_.load_map_value(Reg::kR8, maps_.counters, kCountersHeader);
    static_assert(sizeof(SiteCounters) == 32);
    code_.move(Reg::kR1, Reg::kR7);
    code_.shift_left(Reg::kR1, 5);
    code_.add(Reg::kR8, Reg::kR1);
    count(offsetof(SiteCounters, hits));
  }

  // A tree of comparisons selects the block of the site.
  void dispatch(std::size_t first, std::size_t last) {
    if (last - first == 0) return code_.jump(end_);
    if (last - first == 1) return code_.jump(blocks_[first]);
    const std::size_t middle = first + (last - first) / 2;
    const Label upper = code_.new_label();
    code_.jump_if(BPF_JGE, Reg::kR7, static_cast<std::int32_t>(middle), upper);
    dispatch(first, middle);
    code_.place(upper);
    dispatch(middle, last);
  }

  void block(std::size_t index) {
    const TracedSite& traced = sites_[index];
    if (traced.ends_symbols) {
      code_.load_map_value(Reg::kR2, maps_.counters, 0);
      code_.move(Reg::kR1, 1);
      code_.atomic_add(Reg::kR2, 0, Reg::kR1);
    }
    if (!traced.records) return code_.jump(end_);
    const std::size_t operands = std::min(traced.site->operands.size(), kMaxOperands);
    const std::size_t slots = operands + (traced.counts_methods ? 1 : 0);
    frame_ = static_cast<std::int16_t>(-8 * static_cast<int>(slots));
    for (std::size_t i = 0; i < operands; ++i) operand(traced.site->operands[i], slot(i));
    if (traced.counts_methods) count_method(operands);
    for (const ProbeArgument& argument : traced.probe->description.arguments)
      if (argument.is_text() && argument.operand + 1 < operands) text(argument);
    event(index, slots);
  }

  // Adds one to the method of the hit. For a new method it continues after this code, with the generation in the slot
  // after the operands.
  void count_method(std::size_t operands) {
    static_assert(sizeof(MethodKey) == 32);
    constexpr std::int16_t kKeySize = sizeof(MethodKey);
    const auto key = static_cast<std::int16_t>(frame_ - kKeySize);
    const auto zero = static_cast<std::int16_t>(key - 8);
    code_.load_map_value(Reg::kR2, maps_.counters, 0);
    code_.load(8, Reg::kR1, Reg::kR2, 0);
    code_.store(8, Reg::kFrame, key, Reg::kR1);
    code_.store(8, Reg::kFrame, slot(operands), Reg::kR1);
    for (std::int16_t i = 0; i < 3; ++i) {  // operands 1, 3, 5: the texts of method__entry
      code_.load(8, Reg::kR1, Reg::kFrame, slot(static_cast<std::size_t>(1 + 2 * i)));
      code_.store(8, Reg::kFrame, static_cast<std::int16_t>(key + 8 + 8 * i), Reg::kR1);
    }
    const auto look_up = [&] {
      code_.load_map(Reg::kR1, maps_.methods);
      code_.move(Reg::kR2, Reg::kFrame);
      code_.add(Reg::kR2, key);
      code_.call_helper(BPF_FUNC_map_lookup_elem);
    };
    const Label is_new = code_.new_label();
    look_up();
    code_.jump_if(BPF_JEQ, Reg::kR0, 0, is_new);
    code_.move(Reg::kR1, 1);
    code_.atomic_add(Reg::kR0, 0, Reg::kR1);
    code_.jump(end_);
    code_.place(is_new);
    code_.store(8, Reg::kFrame, zero, 0);
    code_.load_map(Reg::kR1, maps_.methods);
    code_.move(Reg::kR2, Reg::kFrame);
    code_.add(Reg::kR2, key);
    code_.move(Reg::kR3, Reg::kFrame);
    code_.add(Reg::kR3, zero);
    code_.move(Reg::kR4, BPF_NOEXIST);  // another thread may have been first
    code_.call_helper(BPF_FUNC_map_update_elem);
    look_up();
    code_.jump_if(BPF_JEQ, Reg::kR0, 0, lost_);  // the map is full
    code_.move(Reg::kR1, 1);
    code_.atomic_add(Reg::kR0, 0, Reg::kR1);
  }

  std::int16_t slot(std::size_t index) const { return static_cast<std::int16_t>(frame_ + 8 * static_cast<int>(index)); }

  void load_register(Reg to, Register number) { code_.load(8, to, Reg::kR6, offset_of(number)); }

  // The low `size` bytes of R1, extended to 64 bits.
  void extend(const Operand& operand) {
    if (operand.shift != 0) code_.shift_right(Reg::kR1, operand.shift);
    if (operand.size == 8) return;
    const int bits = 64 - 8 * operand.size;
    code_.shift_left(Reg::kR1, bits);
    if (operand.is_signed) code_.shift_right_signed(Reg::kR1, bits);
    else code_.shift_right(Reg::kR1, bits);
  }

  void operand(const Operand& operand, std::int16_t to) {
    switch (operand.kind) {
      case OperandKind::kUnknown: code_.store(8, Reg::kFrame, to, 0); return;
      case OperandKind::kImmediate:
        code_.load_immediate(Reg::kR1, static_cast<std::uint64_t>(operand.displacement));
        break;
      case OperandKind::kRegister: load_register(Reg::kR1, operand.base); break;
      case OperandKind::kMemory: memory_operand(operand, to); break;
    }
    extend(operand);
    code_.store(8, Reg::kFrame, to, Reg::kR1);
  }

  void memory_operand(const Operand& operand, std::int16_t to) {
    code_.load_immediate(Reg::kR3, static_cast<std::uint64_t>(operand.displacement));
    if (operand.has_base) {
      load_register(Reg::kR1, operand.base);
      code_.add(Reg::kR3, Reg::kR1);
    }
    if (operand.has_index) {
      load_register(Reg::kR1, operand.index);
      for (int scale = operand.scale; scale > 1; scale /= 2) code_.shift_left(Reg::kR1, 1);
      code_.add(Reg::kR3, Reg::kR1);
    }
    code_.store(8, Reg::kFrame, to, 0);
    code_.move(Reg::kR1, Reg::kFrame);
    code_.add(Reg::kR1, to);
    code_.move(Reg::kR2, operand.size);
    code_.call_helper(BPF_FUNC_probe_read_user);
    const Label read = code_.new_label();
    code_.jump_if(BPF_JEQ, Reg::kR0, 0, read);
    count(offsetof(SiteCounters, unreadable));
    code_.place(read);
    code_.load(8, Reg::kR1, Reg::kFrame, to);
  }

  // Sends the text of an argument unless the reader has it already.
  void text(const ProbeArgument& argument) {
    texts_used_ = true;
    const Label known = code_.new_label(), send = code_.new_label();
    const std::int16_t key = slot(argument.operand);
    // A length is an int; the reader gets it without its sign.
    code_.load(8, Reg::kR1, Reg::kFrame, static_cast<std::int16_t>(key + 8));
    code_.shift_left(Reg::kR1, 32);
    code_.shift_right(Reg::kR1, 32);
    code_.store(8, Reg::kFrame, static_cast<std::int16_t>(key + 8), Reg::kR1);
    const bool symbol = argument.kind == ArgumentKind::kSymbol;
    if (symbol) {
      code_.load_map(Reg::kR1, maps_.texts);
      code_.move(Reg::kR2, Reg::kFrame);
      code_.add(Reg::kR2, key);
      code_.call_helper(BPF_FUNC_map_lookup_elem);
      code_.jump_if(BPF_JEQ, Reg::kR0, 0, send);
      code_.load(8, Reg::kR1, Reg::kR0, 0);
      code_.load_map_value(Reg::kR2, maps_.counters, 0);
      code_.load(8, Reg::kR2, Reg::kR2, 0);
      code_.jump_if(BPF_JEQ, Reg::kR1, Reg::kR2, known);
    }
    code_.place(send);
    code_.move(Reg::kR1, Reg::kFrame);
    code_.add(Reg::kR1, key);
    code_.move(Reg::kR2, symbol ? 1 : 0);
    code_.call(send_text_);
    code_.jump_if(BPF_JNE, Reg::kR0, 0, lost_);
    code_.place(known);
  }

  void event(std::size_t index, std::size_t operands) {
    code_.load_map(Reg::kR1, maps_.ring);
    const std::size_t size = sizeof(EventHeader) + 8 * operands;
    const bool stack = sites_[index].copies_stack;
    code_.move(Reg::kR2, static_cast<std::int32_t>(size + (stack ? kStackRoom : 0)));
    code_.move(Reg::kR3, 0);
    code_.call_helper(BPF_FUNC_ringbuf_reserve);
    code_.jump_if(BPF_JEQ, Reg::kR0, 0, lost_);
    code_.move(Reg::kR7, Reg::kR0);
    code_.call_helper(BPF_FUNC_ktime_get_ns);
    code_.store(8, Reg::kR7, offsetof(EventHeader, time), Reg::kR0);
    code_.store(4, Reg::kR7, offsetof(EventHeader, site), static_cast<std::int32_t>(index));
    code_.store(4, Reg::kR7, offsetof(EventHeader, tid), Reg::kR9);
    for (std::size_t i = 0; i < operands; ++i) {
      code_.load(8, Reg::kR1, Reg::kFrame, slot(i));
      code_.store(8, Reg::kR7, static_cast<std::int16_t>(sizeof(EventHeader) + 8 * i), Reg::kR1);
    }
    if (stack) {
      stacks_used_ = true;
      code_.move(Reg::kR1, Reg::kR6);
      code_.move(Reg::kR2, Reg::kR7);
      code_.add(Reg::kR2, static_cast<std::int32_t>(size));
      code_.call(copy_stack_);
    }
    submit(Reg::kR7);
    code_.jump(end_);
  }

  // Function (R1: context, R2: a StackHeader with its room).
  void copy_stack() {
    code_.place(copy_stack_);
    code_.move(Reg::kR6, Reg::kR2);
    for (std::size_t word = 0; word < kStackRegisters; ++word) {
      code_.load(8, Reg::kR3, Reg::kR1, offset_of(word));
      code_.store(8, Reg::kR6, offset_of(word), Reg::kR3);
    }
    code_.store(8, Reg::kR6, offsetof(StackHeader, copied), 0);
    code_.load(8, Reg::kR7, Reg::kR1, offset_of(kMachine.sp));
    code_.add(Reg::kR7, -static_cast<std::int32_t>(kStackBelow));
    // R7: what is copied next, R8: how much of its page, R9: how much is done.
    code_.move(Reg::kR1, Reg::kR7);
    code_.bit_and(Reg::kR1, kStackPage - 1);
    code_.move(Reg::kR8, static_cast<std::int32_t>(kStackPage));
    code_.subtract(Reg::kR8, Reg::kR1);
    code_.add(Reg::kR1, Reg::kR6);
    code_.add(Reg::kR1, sizeof(StackHeader));
    code_.move(Reg::kR9, 0);
    const Label ends = code_.new_label();
    for (std::uint32_t page = 0; page < kStackPages; ++page) {
      if (page > 0) {
        code_.move(Reg::kR1, Reg::kR6);
        code_.add(Reg::kR1, static_cast<std::int32_t>(sizeof(StackHeader) + page * kStackPage));
        code_.move(Reg::kR8, static_cast<std::int32_t>(kStackPage));
      }
      code_.move(Reg::kR2, Reg::kR8);
      code_.move(Reg::kR3, Reg::kR7);
      code_.call_helper(BPF_FUNC_probe_read_user);
      code_.jump_if(BPF_JNE, Reg::kR0, 0, ends);
      code_.add(Reg::kR7, Reg::kR8);
      code_.add(Reg::kR9, Reg::kR8);
      code_.store(8, Reg::kR6, offsetof(StackHeader, copied), Reg::kR9);
    }
    code_.place(ends);
    code_.move(Reg::kR0, 0);
    code_.exit();
  }

  void submit(Reg record) {
    code_.move(Reg::kR1, record);
    code_.move(Reg::kR2, kRingNoWakeup);
    code_.call_helper(BPF_FUNC_ringbuf_submit);
  }

  // Function (R1: address of {address, length} on the caller's stack, R2: 1 to remember the text). Returns 0, or 1 if
  // there is no room.
  void send_text() {
    code_.place(send_text_);
    const Label done = code_.new_label(), full = code_.new_label(), end = code_.new_label();
    code_.move(Reg::kR6, Reg::kR1);
    code_.move(Reg::kR7, Reg::kR2);
    code_.load(8, Reg::kR8, Reg::kR6, 8);
    Label next = code_.new_label();
    for (const std::uint32_t room : kTextSizes) {
      code_.place(next);
      next = code_.new_label();
      if (room != kLongestText) code_.jump_if(BPF_JGT, Reg::kR8, static_cast<std::int32_t>(room), next);
      copy_text(room, full);
      code_.jump(done);
    }
    code_.place(next);
    code_.place(done);
    // R9: a text that could not be read is not remembered.
    code_.jump_if(BPF_JEQ, Reg::kR7, 0, end);
    code_.jump_if(BPF_JNE, Reg::kR9, 0, end);
    code_.load_map_value(Reg::kR1, maps_.counters, 0);
    code_.load(8, Reg::kR1, Reg::kR1, 0);
    code_.store(8, Reg::kFrame, -8, Reg::kR1);
    code_.load_map(Reg::kR1, maps_.texts);
    code_.move(Reg::kR2, Reg::kR6);
    code_.move(Reg::kR3, Reg::kFrame);
    code_.add(Reg::kR3, -8);
    code_.move(Reg::kR4, BPF_ANY);
    code_.call_helper(BPF_FUNC_map_update_elem);
    code_.place(end);
    code_.move(Reg::kR0, 0);
    code_.exit();
    code_.place(full);
    code_.move(Reg::kR0, 1);
    code_.exit();
  }

  // Makes a text record with room for `room` bytes. R9: whether the text could not be read.
  void copy_text(std::uint32_t room, Label full) {
    code_.load_map(Reg::kR1, maps_.ring);
    code_.move(Reg::kR2, static_cast<std::int32_t>(sizeof(TextHeader) + room));
    code_.move(Reg::kR3, 0);
    code_.call_helper(BPF_FUNC_ringbuf_reserve);
    code_.jump_if(BPF_JEQ, Reg::kR0, 0, full);
    code_.move(Reg::kR9, Reg::kR0);
    code_.store(4, Reg::kR9, offsetof(TextHeader, mark), static_cast<std::int32_t>(kTextRecord));
    code_.store(4, Reg::kR9, offsetof(TextHeader, length), Reg::kR8);
    code_.load(8, Reg::kR3, Reg::kR6, 0);
    code_.store(8, Reg::kR9, offsetof(TextHeader, address), Reg::kR3);
    const Label short_enough = code_.new_label();
    code_.move(Reg::kR2, Reg::kR8);
    code_.jump_if(BPF_JLE, Reg::kR2, static_cast<std::int32_t>(room), short_enough);
    code_.move(Reg::kR2, static_cast<std::int32_t>(room));
    code_.place(short_enough);
    code_.store(4, Reg::kR9, offsetof(TextHeader, copied), Reg::kR2);
    code_.move(Reg::kR1, Reg::kR9);
    code_.add(Reg::kR1, sizeof(TextHeader));
    code_.call_helper(BPF_FUNC_probe_read_user);
    code_.store(4, Reg::kR9, offsetof(TextHeader, unreadable), Reg::kR0);
    code_.move(Reg::kR1, Reg::kR9);
    code_.move(Reg::kR9, Reg::kR0);
    code_.move(Reg::kR2, kRingNoWakeup);
    code_.call_helper(BPF_FUNC_ringbuf_submit);
  }

  const std::vector<TracedSite>& sites_;
  ProgramMaps maps_;
  std::uint32_t tgid_;
  BpfAssembler code_;
  Label lost_ = 0, end_ = 0, send_text_ = 0, copy_stack_ = 0;
  std::vector<Label> blocks_;
  std::int16_t frame_ = 0;  // of the first operand, below the frame pointer
  bool texts_used_ = false, stacks_used_ = false;
};

}  // namespace

Result<std::vector<bpf_insn>> make_probe_program(const std::vector<TracedSite>& sites, const ProgramMaps& maps,
                                                 std::uint32_t tgid) {
  return ProgramMaker(sites, maps, tgid).make();
}

}  // namespace jtrace::dtrace
