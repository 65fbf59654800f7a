#include "agent/classfile/class_rewriter.h"

#include "agent/classfile/class_assembly.h"
#include "agent/classfile/code_rewriter.h"

namespace jtrace::agent::classfile {
namespace {

// The sets of callouts to try, fewer each time, when a method gets too large. A method that has any callouts but
// kCalloutCount keeps kCalloutFrames: otherwise an exception caught in it would seem to end its callers' calls.
constexpr std::uint32_t kLadder[] = {
    ~0u,
    ~std::uint32_t{kCalloutLine},
    ~std::uint32_t{kCalloutLine | kCalloutCalls},
    ~std::uint32_t{kCalloutLine | kCalloutCalls | kCalloutArguments | kCalloutResult},
    ~std::uint32_t{kCalloutLine | kCalloutCalls | kCalloutArguments | kCalloutResult | kCalloutArrays | kCalloutNew},
    std::uint32_t{kCalloutEntry | kCalloutExit | kCalloutFrames | kCalloutCount},
    std::uint32_t{kCalloutCount},
};

Outcome rewrite_method(CodeRewriter& rewriter, const Method& method, MethodPlan& plan, Bytes& out) {
  Outcome outcome = Outcome::kUntouched;
  std::uint32_t tried = 0;
  for (const std::uint32_t step : kLadder) {
    const std::uint32_t callouts = plan.callouts & step;
    if (callouts == 0 || callouts == tried) continue;
    tried = callouts;
    outcome = rewriter.rewrite(method, plan.number, callouts, out);
    if (outcome == Outcome::kTooLarge || outcome == Outcome::kJumpTooFar) continue;
    if (outcome != Outcome::kRewritten) return outcome;
    plan.done = callouts;
    plan.open_start = rewriter.open_start();
    plan.unseen_news = rewriter.unseen_news();
    plan.unseen_calls = rewriter.unseen_calls();
    return callouts == plan.callouts ? Outcome::kRewritten : Outcome::kReduced;
  }
  return outcome;
}

}  // namespace

std::string_view to_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::kUntouched: return "nothing was asked for";
    case Outcome::kRewritten: return "rewritten";
    case Outcome::kReduced: return "rewritten with fewer callouts: with all of them its code would exceed 64 KiB";
    case Outcome::kNoCode: return "native or abstract";
    case Outcome::kTooLarge: return "larger than 64 KiB with callouts";
    case Outcome::kJumpTooFar: return "a conditional jump would exceed 32 KiB with callouts";
    case Outcome::kMalformed: return "its code could not be read";
  }
  return "";
}

ClassOutcome rewrite_class(const ClassFile& klass, std::string_view helper, std::span<MethodPlan> plans, Bytes& out,
                           CalleeNumbers callees) {
  const std::vector<Method>& methods = klass.methods();
  if (plans.size() != methods.size()) return ClassOutcome::kMalformed;
  ConstantPool pool(klass.constant_count());
  CodeRewriter rewriter(klass, helper, callees, pool);
  ClassAssembly assembly(klass);
  Bytes code;
  bool any = false;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const Method& method = methods[i];
    MethodPlan& plan = plans[i];
    plan.done = 0;
    plan.open_start = false;
    plan.outcome = plan.callouts == 0 ? Outcome::kUntouched : Outcome::kNoCode;
    code.clear();
    if (plan.callouts != 0 && method.has_code()) plan.outcome = rewrite_method(rewriter, method, plan, code);
    if (plan.done != 0) assembly.add(method, code);
    else assembly.add(method);
    any = any || plan.done != 0;
  }
  if (pool.full()) return ClassOutcome::kPoolFull;
  if (!any) return ClassOutcome::kUntouched;
  assembly.finish(pool, out);
  return ClassOutcome::kRewritten;
}

LineRange line_range(const ClassFile& klass, const Method& method) {
  LineRange range;
  if (!method.has_code()) return range;
  Reader reader(klass.bytes().first(method.code.data + method.code.size), method.code.data);
  reader.skip(4);
  reader.skip(reader.u4());
  reader.skip(std::size_t{reader.u2()} * 8);
  const std::uint16_t attributes = reader.u2();
  for (std::uint32_t i = 0; i < attributes && !reader.failed(); ++i) {
    const Attribute attribute = klass.read_attribute(reader);
    if (attribute.name != "LineNumberTable") continue;
    Reader table(klass.bytes().first(attribute.data + attribute.size), attribute.data);
    const std::uint16_t count = table.u2();
    for (std::uint32_t k = 0; k < count; ++k) {
      table.skip(2);
      const std::int32_t line = table.u2();
      if (table.failed()) break;
      if (range.first < 0 || line < range.first) range.first = line;
      if (line > range.last) range.last = line;
    }
  }
  return range;
}

}  // namespace jtrace::agent::classfile
