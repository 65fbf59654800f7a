#include "dtrace/probe_stacks.h"

#include <algorithm>
#include <cstdio>

#include "target/isa_x86_64.h"

namespace jtrace::dtrace {
namespace {

// The words of `Register`s, in their order.
constexpr target::x86_64::Word kWordOf[kRegisterCount] = {
    target::x86_64::kRax, target::x86_64::kRcx, target::x86_64::kRdx, target::x86_64::kRbx,
    target::x86_64::kRsp, target::x86_64::kRbp, target::x86_64::kRsi, target::x86_64::kRdi,
    target::x86_64::kR8,  target::x86_64::kR9,  target::x86_64::kR10, target::x86_64::kR11,
    target::x86_64::kR12, target::x86_64::kR13, target::x86_64::kR14, target::x86_64::kR15};

target::Registers registers_of(const CopiedStack& stack) {
  target::Registers registers;
  for (std::size_t i = 0; i < kRegisterCount; ++i) registers.words[kWordOf[i]] = stack.registers[i];
  registers.words[target::x86_64::kRip] = stack.pc();
  return registers;
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

std::string frame_text(const coreinspect::Frame& frame) {
  std::string text;
  if (frame.method != nullptr) {
    text = frame.method->class_name;
    std::replace(text.begin(), text.end(), '.', '/');
    text += '.' + frame.method->name;
    if (frame.method->is_native()) return text + ":native";
    const int line = frame.method->line_of(frame.bci);
    return line < 0 ? text : text + ':' + std::to_string(line);
  }
  if (frame.kind != coreinspect::FrameKind::kNative) text = '~' + frame.name;
  else if (frame.name.empty())
    text = frame.module.empty() ? hexadecimal(frame.pc) : frame.module + '+' + hexadecimal(frame.module_offset);
  else text = frame.module + '!' + frame.name;
  std::replace(text.begin(), text.end(), ';', ',');
  return text;
}

Result<std::unique_ptr<ProbeStacks>> ProbeStacks::open(VmFacts& facts) {
  JTRACE_ASSIGN_OR_RETURN(auto walker, coreinspect::CopiedStackWalker::open(facts.inspection()));
  return std::unique_ptr<ProbeStacks>(new ProbeStacks(std::move(walker)));
}

std::string ProbeStacks::text(const CopiedStack& stack) {
  const coreinspect::Walk walk = walker_->walk(registers_of(stack), stack.start, stack.bytes);
  std::string text;
  for (const coreinspect::Frame& frame : walk.frames) text += (text.empty() ? "" : ";") + frame_text(frame);
  ++total_;
  if (!walk.incomplete()) return text;
  ++cut_;
  return text + (text.empty() ? "..." : ";...");
}

}  // namespace jtrace::dtrace
