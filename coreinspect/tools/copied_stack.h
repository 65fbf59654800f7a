// CopiedStackWalker: the mixed stack of a past moment: from a copy of registers and stack; everything else is read from
// the running target.
//
// Only the copy is used as stack, so that a thread that has continued cannot mislead the walk. A stack that is longer
// than the copy ends with the copy. Ownership: borrows the inspection, whose memory shows the copy until the next walk.
// Threads: one at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coreinspect/model/inspection.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

class CopiedStackWalker {
 public:
  // Errors: the code cache cannot be read.
  static Result<std::unique_ptr<CopiedStackWalker>> open(Inspection& inspection);
  ~CopiedStackWalker();

  // `start`: the address of the first byte.
  Walk walk(const target::Registers& registers, Address start, std::vector<std::byte> bytes);

  // The same for several stacks of about the same time: what was read of the target since refresh() is not read again.
  // Afterwards the memory shows no copy.
  void refresh();
  Walk walk_next(const target::Registers& registers, Address start, std::span<const std::byte> bytes);

 private:
  class Impl;
  explicit CopiedStackWalker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace jtrace::coreinspect
