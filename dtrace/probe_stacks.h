// ProbeStacks: the stack that was copied in a probe as one line, innermost frame first, frames separated by ';'.
//
// A Java frame is "java/lang/Object.wait:123" (line; "native" for a native method; nothing if unknown), a native frame
// "libjvm.so!ObjectMonitor::wait(...)", or "libjvm.so+0x1234" without a symbol, a stub of the VM "~call_stub". A stack
// that could not be followed to its end ends with "...". coreinspect unwinds the copy after the thread has continued.
// Borrows the facts. One thread.
#pragma once

#include <memory>
#include <string>

#include "coreinspect/tools/copied_stack.h"
#include "dtrace/probe_source.h"
#include "dtrace/vm_facts.h"

namespace jtrace::dtrace {

std::string frame_text(const coreinspect::Frame& frame);

class ProbeStacks {
 public:
  static Result<std::unique_ptr<ProbeStacks>> open(VmFacts& facts);

  std::string text(const CopiedStack& stack);
  std::uint64_t total() const { return total_; }
  std::uint64_t cut() const { return cut_; }  // stacks that end with "..."

 private:
  explicit ProbeStacks(std::unique_ptr<coreinspect::CopiedStackWalker> walker) : walker_(std::move(walker)) {}

  std::unique_ptr<coreinspect::CopiedStackWalker> walker_;
  std::uint64_t total_ = 0, cut_ = 0;
};

}  // namespace jtrace::dtrace
