// CopiedStackWalker: the mixed stack of a moment that is over: registers and stack as somebody copied them, everything
// else as the running target has it now.
//
// Nothing but the copy is taken for stack, so that a thread that went on cannot mislead it: a stack that goes on beyond
// the copy is told as far as that. Ownership: borrows the inspection, whose memory shows the copy until the next walk.
// Threads: one at a time.
#pragma once

#include <memory>
#include <vector>

#include "coreinspect/model/inspection.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

class CopiedStackWalker {
 public:
  // Errors: the code cache cannot be read.
  static Result<std::unique_ptr<CopiedStackWalker>> open(Inspection& inspection);
  ~CopiedStackWalker();

  // `start`: where the first byte stood.
  Walk walk(const target::Registers& registers, Address start, std::vector<std::byte> bytes);

 private:
  class Impl;
  explicit CopiedStackWalker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace jtrace::coreinspect
