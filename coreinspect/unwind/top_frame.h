// TopFrame: who called generated code that stands at any of its instructions, not at a call.
//
// First what the instructions at the pc say (top_frame_code.h), then what else is possible: a return address on top of
// the stack, a chain of frame pointers, a return address further up. Which of them is true shows when the walk goes on:
// only the right one leads to the thread's begin. Borrows memory and code cache. Threads: one at a time.
#pragma once

#include <vector>

#include "coreinspect/code/code_cache.h"

namespace jtrace::coreinspect {

struct Caller {
  Address pc = 0, sp = 0, unextended_sp = 0, fp = 0;
};

class TopFrame {
 public:
  struct At {
    Address pc = 0, sp = 0, fp = 0, rax = 0, r13 = 0;
    Address high = 0;  // end of the stack that is known
  };
  enum class Wanted { kFirst, kAll };  // the first is nearly always right, the others cost more

  TopFrame(const target::MemoryReader& memory, const CodeCache& code) : memory_(memory), code_(code) {}

  // The most probable first. Of code that has its frame by now that is the frame of the size that the blob tells.
  std::vector<Caller> callers(const CodeBlob& blob, const At& at, Wanted wanted) const;
  // Of the interpreter, where it has not built its frame yet.
  std::vector<Caller> callers_without_frame(const At& at) const;

 private:
  class Candidates;

  const target::MemoryReader& memory_;
  const CodeCache& code_;
};

}  // namespace jtrace::coreinspect
