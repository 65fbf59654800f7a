#include "coreinspect/unwind/top_frame_aarch64.h"

#include <algorithm>
#include <cstring>

namespace jtrace::coreinspect::aarch64 {
namespace {

constexpr Address kWord = 8;
constexpr std::size_t kBefore = 256, kAfter = 64;  // bytes of code that are looked at
constexpr Address kScanned = 64;                   // words of the stack in which a return address is looked for

// Encodings: Arm ARM (DDI 0487), C6.2. The stack pointer is register 31.
constexpr std::uint32_t kRet = 0xd65f03c0;
bool is_sub_sp(std::uint32_t code) { return (code & 0xff8003ff) == 0xd10003ff; }
bool is_add_sp(std::uint32_t code) { return (code & 0xff8003ff) == 0x910003ff; }
bool is_pointer_of_frame(std::uint32_t code) { return (code & 0xff8003ff) == 0x910003fd; }  // add x29, sp, N; mov
bool is_pair_pushed(std::uint32_t code) { return (code & 0xffc07fff) == 0xa9807bfd; }       // stp x29, x30, [sp, -N]!
bool is_pair_stored(std::uint32_t code) { return (code & 0xffc07fff) == 0xa9007bfd; }       // stp x29, x30, [sp, N]
bool is_pair_loaded(std::uint32_t code) {  // ldp x29, x30, [sp, N] or [sp], N
  return (code & 0xffc07fff) == 0xa9407bfd || (code & 0xffc07fff) == 0xa8c07bfd;
}
// b, b.cond, cbz, tbz: the end of what runs one after the other. The poll at a return is a b.cond to a stub.
bool is_unconditional_branch(std::uint32_t code) { return (code & 0xfc000000) == 0x14000000; }
std::uint64_t immediate(std::uint32_t code) {
  const std::uint64_t value = code >> 10 & 0xfff;
  return (code >> 22 & 1) != 0 ? value << 12 : value;
}
std::uint64_t pushed(std::uint32_t code) {  // the offset of a pair is 7 bits of units of 8
  return (128 - (code >> 15 & 127)) * 8;
}

class Candidates {
 public:
  Candidates(const target::MemoryReader& memory, const target::Target& target, const CodeCache& code,
             const TopFrame::At& at)
      : memory_(memory), target_(target), code_(code), at_(at) {}

  // The return address is in x30; the caller's stack pointer is that far up.
  void in_link(std::uint64_t up, Address fp) {
    const Address pc = target_.code_address(at_.link);
    if (is_return_address(pc)) add({.pc = pc, .sp = at_.sp + up, .unextended_sp = at_.sp + up, .fp = fp});
  }
  // An adapter or the interpreter: what the caller had as stack pointer is in a register.
  void in_link_of_sender() {
    const Address pc = target_.code_address(at_.link), sp = at_.sender_sp;
    if (is_return_address(pc) && sp >= at_.sp && sp < at_.high && sp % kWord == 0)
      add({.pc = pc, .sp = sp, .unextended_sp = sp, .fp = at_.fp});
  }
  // The pair is in the two words below that place.
  void in_frame(Address top) {
    if (top < at_.sp + 2 * kWord || top > at_.high) return;
    const auto pc = word(top - kWord), fp = word(top - 2 * kWord);
    if (pc && fp && is_return_address(target_.code_address(*pc)))
      add({.pc = target_.code_address(*pc), .sp = top, .unextended_sp = top, .fp = *fp});
  }
  void at_frame_pointer() {
    if (at_.fp >= at_.sp && at_.fp < at_.high) in_frame(at_.fp + 2 * kWord);
  }
  void scan() {
    for (Address i = 2; i < kScanned; ++i) in_frame(at_.sp + i * kWord);
  }
  std::vector<Caller> take() { return std::move(callers_); }

 private:
  std::optional<Address> word(Address at) const {
    const auto value = memory_.read<Address>(at);
    return value ? std::optional(*value) : std::nullopt;
  }
  void add(const Caller& caller) {
    const bool known = std::any_of(callers_.begin(), callers_.end(), [&](const Caller& other) {
      return other.pc == caller.pc && other.sp == caller.sp && other.fp == caller.fp;
    });
    if (!known) callers_.push_back(caller);
  }
  // Interpreted methods are entered by a jump, and a deoptimised caller is returned to at its handler.
  bool is_return_address(Address pc) const {
    if (pc % 4 != 0 || pc < 4) return false;
    if (code_.in_interpreter(pc)) return true;
    if (code_.contains(pc)) {
      const auto blob = code_.find(pc);
      if (!blob || !*blob) return false;
      if (code_.is_deopt_return(**blob, pc)) return true;
    }
    return is_after_call(memory_, pc);
  }

  const target::MemoryReader& memory_;
  const target::Target& target_;
  const CodeCache& code_;
  const TopFrame::At& at_;
  std::vector<Caller> callers_;
};

}  // namespace

std::vector<std::uint32_t> instructions(const target::MemoryReader& memory, Address at, std::size_t bytes) {
  const auto read = code_around(memory, at, bytes);
  std::vector<std::uint32_t> codes(read.size() / 4);
  if (!codes.empty()) std::memcpy(codes.data(), read.data(), codes.size() * 4);
  return codes;
}

bool is_call(std::uint32_t instruction) {
  return (instruction & 0xfc000000) == 0x94000000 || (instruction & 0xfffffc1f) == 0xd63f0000;
}

bool is_after_call(const target::MemoryReader& memory, Address pc) {
  const auto call = pc >= 4 ? memory.read<std::uint32_t>(pc - 4) : Result<std::uint32_t>(0u);
  return call && is_call(*call);
}

FrameChange frame_made(std::span<const std::uint32_t> before) {
  FrameChange change;
  for (const std::uint32_t code : before) {
    if (is_sub_sp(code)) change.reserved += immediate(code);
    else if (is_pair_pushed(code)) change.reserved += pushed(code), change.saved = true;
    else if (is_pair_stored(code)) change.saved = true;
    else if (is_pointer_of_frame(code) && change.saved) change.pointed = true;
  }
  return change;
}

std::optional<std::uint64_t> frame_left(std::span<const std::uint32_t> after) {
  std::uint64_t up = 0;
  for (const std::uint32_t code : after) {
    if (code == kRet) return up;
    if (is_pair_loaded(code) || is_pair_stored(code) || is_pair_pushed(code) || is_call(code) ||
        is_unconditional_branch(code))
      return std::nullopt;
    if (is_add_sp(code)) up += immediate(code);
  }
  return std::nullopt;
}

std::vector<Caller> callers(const target::MemoryReader& memory, const target::Target& target, const CodeCache& code,
                            const CodeBlob& blob, const TopFrame::At& at) {
  Candidates candidates(memory, target, code, at);
  const auto after = instructions(memory, at.pc, kAfter);
  const Address begin = blob.code_begin;
  if (blob.frame_size > 0 && at.pc < begin + blob.frame_complete) {
    const FrameChange made = frame_made(instructions(memory, begin, at.pc > begin ? at.pc - begin : 0));
    if (!made.pointed) candidates.in_link(made.reserved, at.fp);
  } else if (blob.frame_size == 0) {
    // Most stubs have no frame, and those that call native code keep a frame pointer.
    const Address from = std::max(begin, at.pc > kBefore ? at.pc - kBefore : 0);
    const auto before = instructions(memory, from, at.pc - from);
    const auto ret = std::find(before.rbegin(), before.rend(), kRet);  // the stub before this one ends there
    const FrameChange made = frame_made({ret.base(), before.end()});
    if (!made.saved) candidates.in_link(made.reserved, at.fp);
    candidates.at_frame_pointer();
    candidates.in_link_of_sender();
  }
  if (const auto up = frame_left(after); up && blob.frame_size > 0) candidates.in_link(*up, at.fp);
  if (blob.frame_size > 0) candidates.in_frame(at.sp + Address{blob.frame_size} * kWord);
  candidates.in_link(0, at.fp);
  candidates.at_frame_pointer();
  candidates.scan();
  return candidates.take();
}

std::vector<Caller> callers_without_frame(const target::MemoryReader& memory, const target::Target& target,
                                          const CodeCache& code, const TopFrame::At& at) {
  Candidates candidates(memory, target, code, at);
  candidates.in_link_of_sender();
  candidates.in_link(0, at.fp);
  candidates.at_frame_pointer();
  candidates.scan();
  return candidates.take();
}

}  // namespace jtrace::coreinspect::aarch64
