#include "agent/classfile/handler_use.h"

namespace jtrace::agent::classfile {
namespace {

constexpr std::uint32_t kNoLocal = 0xffffffff;
constexpr std::uint8_t kReturnReference = 176;  // areturn (JVMS 6.5): the caller gets the exception

// An instruction on a local: its first local and how many it has.
struct Access {
  std::uint32_t local = kNoLocal;
  std::uint32_t size = 1;
  std::uint8_t type = 0;  // as loads and stores number them: 0 int, 1 long, 2 float, 3 double, 4 reference
};

std::uint32_t operand(ByteView code, const Instruction& each) {
  return code[each.old_pc] == kWide ? u2_at(&code[each.old_pc + 2]) : code[each.old_pc + 1];
}

Access access_at(ByteView code, const Instruction& each, std::uint8_t first, std::uint8_t first_short) {
  const std::uint8_t op = code[each.old_pc] == kWide ? code[each.old_pc + 1] : each.op;
  Access made;
  if (op >= first && op < first + 5) {
    made.type = static_cast<std::uint8_t>(op - first);
    made.local = operand(code, each);
  } else if (op >= first_short && op < first_short + 20) {
    made.type = static_cast<std::uint8_t>((op - first_short) / 4);
    made.local = (op - first_short) % 4u;
  }
  if (made.type == 1 || made.type == 3) made.size = 2;
  return made;
}

Access load_at(ByteView code, const Instruction& each) { return access_at(code, each, kIload, kIload0); }
Access store_at(ByteView code, const Instruction& each) { return access_at(code, each, kIstore, kIstore0); }
static_assert(kIstore0 + 19 == kLastShortStore);

}  // namespace

void HandlerUses::reach(std::uint32_t instruction) {
  if (instruction >= seen_.size() || seen_[instruction] != 0) return;
  seen_[instruction] = 1;
  open_.push_back(instruction);
}

HandlerUse HandlerUses::of(const MethodCode& code, std::uint32_t handler) {
  const std::vector<Instruction>& instructions = code.instructions();
  while (handler < instructions.size() && instructions[handler].op == kNop) ++handler;
  if (handler >= instructions.size()) return HandlerUse::kUnknown;
  const Instruction& first = instructions[handler];
  if (first.op == kReturnReference) return HandlerUse::kUses;
  if (first.op == kPop || first.op == kAthrow || is_return(first.op)) return HandlerUse::kDrops;
  const Access kept = store_at(code.code(), first);
  if (kept.local == kNoLocal || kept.type != 4) return HandlerUse::kUses;
  return of_local(code, handler + 1, kept.local);
}

// Follows the code from there, into the handlers of what may throw too, as long as the local keeps the exception. A
// subroutine (jsr) is followed as if it also returned at once, which is more than can happen.
HandlerUse HandlerUses::of_local(const MethodCode& code, std::uint32_t from, std::uint32_t local) {
  const std::vector<Instruction>& instructions = code.instructions();
  if (work_ > kMostWork) return HandlerUse::kUnknown;
  seen_.assign(instructions.size(), 0);
  open_.clear();
  left_.clear();
  for (const MethodCode::Handler& handler : code.handlers()) left_.push_back(&handler);
  reach(from);
  while (!open_.empty()) {
    const std::uint32_t at = open_.back();
    open_.pop_back();
    const Instruction& each = instructions[at];
    work_ += 1 + left_.size();
    if (work_ > kMostWork) return HandlerUse::kUnknown;
    const Access loaded = load_at(code.code(), each);
    const bool throws_on = at + 1 < instructions.size() && instructions[at + 1].op == kAthrow;
    if (loaded.local == local && loaded.type == 4 && !throws_on) return HandlerUse::kUses;
    std::erase_if(left_, [&](const MethodCode::Handler* handler) {
      const bool covers = each.old_pc >= handler->start && each.old_pc < handler->end;
      if (covers) reach(code.index_at(handler->target));
      return covers;
    });
    const Access stored = store_at(code.code(), each);
    if (stored.local != kNoLocal && local >= stored.local && local < stored.local + stored.size) continue;
    (void)code.for_each_target(each, [&](std::uint32_t target) { reach(target); });
    if (!MethodCode::ends_flow(each) && each.op != kRet) reach(at + 1);
  }
  return HandlerUse::kDrops;
}

}  // namespace jtrace::agent::classfile
