#include "coreinspect/unwind/top_frame_x86_64.h"

#include <algorithm>
#include <array>

#include "coreinspect/unwind/top_frame_code_x86_64.h"

namespace jtrace::coreinspect::x86_64 {
namespace {

using At = TopFrame::At;
using Wanted = TopFrame::Wanted;

constexpr Address kWord = 8;
constexpr std::size_t kBefore = 96, kAfter = 24;  // bytes of code around a pc that are looked at
constexpr Address kScanned = 40;                  // words of the stack in which a return address is looked for
constexpr Address kLongestCall = 7;               // bytes
constexpr Address kMostArguments = 256 * kWord;   // JVMS 4.3.3

class Candidates {
 public:
  Candidates(const target::MemoryReader& memory, const CodeCache& code, const At& at, Wanted wanted)
      : memory_(memory), code_(code), at_(at), wanted_(wanted) {}

  void frame_of(std::uint64_t words) { returns_at(at_.sp + (words - 1) * kWord, /*saved=*/true); }
  void reserved(std::uint64_t words) { returns_at(at_.sp + (words - 1) * kWord, /*saved=*/false); }
  void on_top() { returns_at(at_.sp, false); }
  void pushed() { returns_at(at_.sp + kWord, true); }
  void frame_pointer() {
    if (at_.fp >= at_.sp && at_.fp < at_.high) returns_at(at_.fp + kWord, true);
  }
  // Adapters and the interpreter: the caller's stack pointer may be in r13.
  void sender_in_r13() {
    if (enough()) return;
    const bool possible =
        at_.sender_sp > at_.sp && at_.sender_sp - at_.sp <= kMostArguments && at_.sender_sp % kWord == 0;
    if (const auto pc = word(at_.sp); possible && pc && is_return_address(*pc))
      add({.pc = *pc, .sp = at_.sp + kWord, .unextended_sp = at_.sender_sp, .fp = at_.fp});
    if (!is_return_address(at_.link)) return;
    if (possible) add({.pc = at_.link, .sp = at_.sender_sp, .unextended_sp = at_.sender_sp, .fp = at_.fp});
    add({.pc = at_.link, .sp = at_.sp, .unextended_sp = at_.sp, .fp = at_.fp});
  }
  void if_return_address(Address slot, bool saved) {
    if (enough()) return;
    const auto pc = word(slot);
    if (pc && is_return_address(*pc)) returns_at(slot, saved);
  }
  void guess_on_top() { if_return_address(at_.sp, false); }
  void guess_pushed() { if_return_address(at_.sp + kWord, true); }
  void guess_frame_pointer() {
    if (at_.fp >= at_.sp && at_.fp < at_.high) if_return_address(at_.fp + kWord, true);
  }
  void scan() {
    for (Address i = 0; i < kScanned; ++i) if_return_address(at_.sp + i * kWord, false);
  }
  // Return addresses that follow a call of `blob`; the call whose target is nearest to the pc comes first. A stub may
  // have reserved stack without writing to it. Such a slot can hold the return address of an earlier call of other
  // code, and a walk from there reaches the first frame too.
  void of_calls_to(const CodeBlob& blob) {
    if (enough()) return;
    std::vector<Call> calls;
    if (at_.fp >= at_.sp && at_.fp < at_.high) add_call(blob, at_.fp + kWord, true, calls);
    add_call(blob, at_.sp, false, calls);
    add_call(blob, at_.sp + kWord, true, calls);
    for (Address i = 2; i < kScanned; ++i) add_call(blob, at_.sp + i * kWord, false, calls);
    std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.target > b.target; });
    for (const Call& call : calls) returns_at(call.slot, call.saved);
  }
  std::vector<Caller> take() { return std::move(callers_); }

 private:
  struct Call {
    Address target = 0;
    Address slot = 0;  // of the return address
    bool saved = false;
  };
  void add_call(const CodeBlob& blob, Address slot, bool saved, std::vector<Call>& calls) const {
    const auto pc = word(slot);
    if (!pc || *pc < kLongestCallSequence || !code_.contains(*pc)) return;
    const auto target = target_of_call(code_around(memory_, *pc - kLongestCallSequence, kLongestCallSequence), *pc);
    if (target && *target >= blob.code_begin && *target <= at_.pc) calls.push_back({*target, slot, saved});
  }
  // Reading at a word that is not an address is a failed system call.
  bool enough() const { return wanted_ == Wanted::kFirst && !callers_.empty(); }
  std::optional<Address> word(Address at) const {
    const auto value = memory_.read<Address>(at);
    return value ? std::optional(*value) : std::nullopt;
  }
  // Takes the return address in this slot; `saved`: the caller's rbp is in the word below it.
  void returns_at(Address slot, bool saved) {
    if (enough() || slot < at_.sp || slot >= at_.high) return;
    const auto pc = word(slot);
    const auto fp = saved ? word(slot - kWord) : std::optional(at_.fp);
    if (pc && fp) add({.pc = *pc, .sp = slot + kWord, .unextended_sp = slot + kWord, .fp = *fp});
  }
  void add(const Caller& caller) {
    if (enough()) return;
    const bool known = std::any_of(callers_.begin(), callers_.end(), [&](const Caller& other) {
      return other.pc == caller.pc && other.sp == caller.sp && other.fp == caller.fp &&
             other.unextended_sp == caller.unextended_sp;
    });
    if (!known) callers_.push_back(caller);
  }
  // Interpreted methods are entered by a jump, and a deoptimised caller is returned to at its handler: neither return
  // address follows a call.
  bool is_return_address(Address pc) const {
    if (pc < kLongestCall) return false;
    if (code_.in_interpreter(pc)) return true;
    if (code_.contains(pc)) {
      const auto blob = code_.find(pc);
      if (!blob || !*blob) return false;
      if (code_.is_deopt_return(**blob, pc)) return true;
    }
    return is_after_call(memory_, pc);
  }

  const target::MemoryReader& memory_;
  const CodeCache& code_;
  const At& at_;
  const Wanted wanted_;
  std::vector<Caller> callers_;
};

}  // namespace

std::vector<Caller> callers(const target::MemoryReader& memory, const CodeCache& code_cache, const CodeBlob& blob,
                            const At& at, Wanted wanted) {
  Candidates candidates(memory, code_cache, at, wanted);
  const std::size_t before = std::min<std::size_t>(kBefore, at.pc > blob.code_begin ? at.pc - blob.code_begin : 0);
  const auto bytes = code_around(memory, at.pc - before, before + kAfter);
  const auto code = std::span(bytes), around = code.first(std::min(before, code.size()));
  const auto rest = code.subspan(around.size());
  FrameStep step = step_of_end(rest);
  if (step == FrameStep::kWhole && blob.frame_size > 0 && at.pc < blob.code_begin + blob.frame_complete)
    step = step_of_begin(around, rest, blob.frame_size * kWord);
  if (step == FrameStep::kWhole && !blob.is_nmethod() && is_enter(rest)) step = FrameStep::kOnTop;
  if (step == FrameStep::kWhole && !blob.is_nmethod() && !around.empty() && is_enter(code.subspan(around.size() - 1)))
    step = FrameStep::kPushed;
  switch (step) {
    case FrameStep::kOnTop: candidates.on_top(); break;
    case FrameStep::kPushed: candidates.pushed(); break;
    case FrameStep::kReserved: candidates.reserved(blob.frame_size); break;
    case FrameStep::kLeaving: candidates.frame_pointer(); break;
    case FrameStep::kWhole: break;
  }
  if (!blob.is_nmethod() && blob.frame_size > 0 && is_enter(code_around(memory, blob.code_begin, 4)))
    candidates.guess_frame_pointer();
  if (blob.frame_size > 0) candidates.frame_of(blob.frame_size);
  else if (!blob.is_nmethod()) candidates.of_calls_to(blob);
  candidates.guess_on_top();
  candidates.guess_pushed();
  candidates.guess_frame_pointer();
  if (blob.frame_size == 0) candidates.sender_in_r13();
  candidates.scan();
  if (blob.frame_size == 0) candidates.on_top();
  return candidates.take();
}

std::vector<Caller> callers_without_frame(const target::MemoryReader& memory, const CodeCache& code, const At& at) {
  Candidates candidates(memory, code, at, Wanted::kAll);
  candidates.sender_in_r13();
  candidates.guess_on_top();
  candidates.guess_frame_pointer();
  candidates.scan();
  return candidates.take();
}

bool is_after_call(const target::MemoryReader& memory, Address pc) {
  return pc >= kLongestCall && ends_in_call(code_around(memory, pc - kLongestCall, kLongestCall));
}

}  // namespace jtrace::coreinspect::x86_64
