#include "coreinspect/unwind/frame_locals.h"

namespace jtrace::coreinspect {
namespace {

constexpr Address kWord = 8;
// Of a frame: locals, expressions, monitors (JVMS 4.7.3, 4.11: each is less than 65536 words).
constexpr Address kMaxDistance = 1u << 18;

Error unavailable(std::string why) { return {.category = ErrorCategory::kRefused, .text = std::move(why)}; }

Address slot_at(Address fp, int words) { return fp + static_cast<Address>(static_cast<std::int64_t>(words) * 8); }

bool is_wide(char type) { return type == 'J' || type == 'D'; }
bool is_reference(char type) { return type == 'L' || type == '['; }

// Of the low half of a word only the bytes of the type count: the interpreter extends none.
std::uint64_t cut(std::uint64_t word, char type) {
  switch (type) {
    case 'Z':
    case 'B': return word & 0xff;
    case 'C':
    case 'S': return word & 0xffff;
    case 'I':
    case 'F': return word & 0xffffffff;
    default: return word;
  }
}

}  // namespace

Result<std::uint64_t> FrameLocals::value(const Frame& frame, std::uint32_t slot, char type) const {
  if (frame.method == nullptr || frame.method->is_native()) return fail(unavailable("a native method"));
  const std::uint32_t last = is_wide(type) ? slot + 1 : slot;
  if (last < slot || last >= frame.method->max_locals) return fail(unavailable("no such variable"));
  if (frame.kind == FrameKind::kInterpreted) return interpreted(frame, slot, type);
  return fail(unavailable("compiled code"));
}

// The first local is at the highest address. It must not be inside the frame's own fixed part, nor out of its reach.
Result<Address> FrameLocals::locals_of(const Frame& frame) const {
  const auto method = vm_.memory().read<Address>(slot_at(frame.fp, vm_.quirks().machine.method));
  if (!method || *method != frame.method->address) return fail(unavailable("the frame is being made"));
  // The slot after that of the bytecode pointer (MachineRules): an address, from 21 on the distance from fp in words.
  const auto raw = vm_.memory().read<std::uint64_t>(slot_at(frame.fp, vm_.quirks().machine.bcp + 1));
  if (!raw) return fail(unavailable("memory is missing"));
  const Address locals = *raw < kMaxDistance ? frame.fp + *raw * kWord : *raw;
  const Address lowest = frame.fp + kWord + Address{frame.method->max_locals} * kWord;
  if (locals % kWord != 0 || locals < lowest || locals - frame.fp > kMaxDistance * kWord)
    return fail(unavailable("the frame's variables are not where they should be"));
  return locals;
}

Result<std::uint64_t> FrameLocals::interpreted(const Frame& frame, std::uint32_t slot, char type) const {
  JTRACE_ASSIGN_OR_RETURN(const Address locals, locals_of(frame));
  // A long or double stands in the second of its slots, which is at the lower address (Interpreter::local_offset_at).
  const Address at = locals - Address{is_wide(type) ? slot + 1 : slot} * kWord;
  const auto word = vm_.memory().read<std::uint64_t>(at);
  if (!word) return fail(unavailable("memory is missing"));
  if (!is_reference(type)) return cut(*word, type);
  if (frame.narrow) return objects_.from_narrow(static_cast<std::uint32_t>(*word));
  return objects_.from_stack(*word);
}

}  // namespace jtrace::coreinspect
