#include "dtrace/probe_stacks.h"

#include <algorithm>
#include <cstdio>

namespace jtrace::dtrace {
namespace {

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
  const coreinspect::Walk walk = walker_->walk(stack.registers, stack.start, stack.bytes);
  std::string text;
  for (const coreinspect::Frame& frame : walk.frames) text += (text.empty() ? "" : ";") + frame_text(frame);
  ++total_;
  if (!walk.incomplete()) return text;
  ++cut_;
  return text + (text.empty() ? "..." : ";...");
}

}  // namespace jtrace::dtrace
