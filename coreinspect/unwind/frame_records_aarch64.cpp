// Native frames of aarch64 by frame records (AAPCS64, "The Frame Pointer"): x29 points to the caller's x29 and to the
// return address. A function that calls no other may keep none: then its caller is in x30.
#include <algorithm>
#include <array>

#include "coreinspect/unwind/native_unwinder.h"
#include "coreinspect/unwind/top_frame_aarch64.h"
#include "target/isa_aarch64.h"

namespace jtrace::coreinspect {

using target::Address;
using target::Registers;

namespace {

constexpr std::size_t kMaxFrames = 4096;
constexpr std::size_t kLongestPrologue = 4096;  // bytes of a function that are looked at before the pc
constexpr Address kLargestSignalFrame = 16384;  // with the registers of SVE

// The vdso's code to which a signal handler returns: mov x8, #139; svc #0 (rt_sigreturn).
bool is_signal_return(const target::MemoryReader& memory, Address pc) {
  constexpr std::array<std::uint32_t, 2> code = {0xd2801168, 0xd4000001};
  const auto found = memory.read<std::array<std::uint32_t, 2>>(pc);
  return found && *found == code;
}

struct Record {
  Address fp = 0, link = 0;
};

struct Interrupted {
  Registers registers;
  Address siginfo = 0;
};

// rt_sigframe (arch/arm64/kernel/signal.c): siginfo (128 bytes), ucontext, whose registers begin after flags, link,
// stack, signal mask (padded to 128 bytes) and the fault's address. It ends in a frame record of what was interrupted,
// where x29 leads; its size depends on the machine, so that it is searched for, between `from` and the record.
std::optional<Interrupted> interrupted_at(const target::MemoryReader& memory, Address from, Address record) {
  constexpr Address kRegisters = 128 + 40 + 128 + 8 + 8;
  const auto pair = memory.read<Record>(record);
  if (!pair || record <= from) return std::nullopt;
  const Address lowest = std::max(from, record > kLargestSignalFrame ? record - kLargestSignalFrame : 0);
  for (Address at = (lowest + 15) & ~Address{15}; at + kRegisters < record; at += 16) {
    const auto same = memory.read<Record>(at + kRegisters + target::aarch64::kX29 * 8);
    if (!same || same->fp != pair->fp || same->link != pair->link) continue;
    const auto number = memory.read<std::int32_t>(at);
    if (!number || *number <= 0 || *number > 64) continue;
    Interrupted found{.registers = {.words = {}, .isa = target::Isa::kAarch64}, .siginfo = at};
    if (!memory.read_exactly(at + kRegisters, std::as_writable_bytes(std::span(found.registers.words)))) continue;
    return found;
  }
  return std::nullopt;
}

}  // namespace

// Whether x29 is still, or again, the caller's: the function has stored no pair before this pc, or loaded it already.
bool NativeUnwinder::has_no_record(Address pc) const {
  const auto start = function_start(pc);
  if (!start || pc - *start > kLongestPrologue) return false;
  const auto before = aarch64::instructions(memory_, *start, pc - *start);
  if (!aarch64::frame_made(before).pointed) return true;
  return aarch64::frame_left(aarch64::instructions(memory_, pc, 32)) && !aarch64::frame_left(before);
}

NativeWalk NativeUnwinder::walk_frame_records(const Registers& from, bool exact, Address limit) const {
  NativeWalk walk;
  walk.sp_known = false;
  Registers registers = from;
  NativeFrame at{.pc = from.pc(), .sp = from.sp(), .fp = from.fp(), .exact = exact};
  const auto lost = [&](std::string why, Address next) {
    walk.why = std::move(why);
    walk.beyond = limit != 0 && next >= limit;
    return walk;
  };
  while (walk.frames.size() < kMaxFrames) {
    at.signal = is_signal_return(memory_, at.pc);
    NativeFrame next;
    if (at.signal) {
      const auto found = interrupted_at(memory_, at.sp, at.fp);
      if (found) at.siginfo = found->siginfo;
      walk.frames.push_back(at);
      if (!found) return lost("the registers that the signal's handler saved are not found", at.fp);
      registers = found->registers;
      next = {.pc = registers.pc(), .sp = registers.sp(), .fp = registers.fp(), .exact = true};
    } else {
      walk.frames.push_back(at);
      if (at.exact && has_no_record(at.pc)) {
        next = {.pc = target_.code_address(registers.link()), .sp = at.sp, .fp = at.fp};
      } else {
        if (at.fp == 0) {  // of the first function of a thread
          walk.end = NativeWalk::End::kBottom;
          return walk;
        }
        const auto record = memory_.read<Record>(at.fp);
        if (!record || at.fp % 8 != 0) return lost("the frame record cannot be read", at.fp);
        next = {.pc = target_.code_address(record->link), .sp = at.fp + sizeof(Record), .fp = record->fp};
      }
      if (next.pc == 0) {
        walk.end = NativeWalk::End::kBottom;
        return walk;
      }
    }
    if (generated_(next.pc)) {
      walk.end = NativeWalk::End::kGenerated;
      walk.next = next;
      walk.sp_known = next.exact;
      walk.at_next = next.exact ? registers : Registers::at(from.isa, next.pc, next.sp, next.fp);
      return walk;
    }
    const bool rises = next.sp > at.sp || at.exact || at.signal;
    if (!rises || (limit != 0 && next.sp > limit) || !module_of(next.pc))
      return lost("the caller is not known", next.sp);
    at = next;
  }
  return lost("more than " + std::to_string(kMaxFrames) + " native frames", 0);
}

}  // namespace jtrace::coreinspect
