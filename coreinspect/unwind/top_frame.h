// TopFrame: the possible callers of generated code that was interrupted at any instruction, not at a call.
//
// First comes what the instructions at the pc say (top_frame_code.h), then the other possibilities: a return address on
// top of the stack, a chain of frame pointers, a return address further up. The walk shows which one is right: only
// that one leads to the thread's first frame. Borrows memory and code cache. Threads: one at a time.
#pragma once

#include <vector>

#include "coreinspect/code/code_cache.h"

namespace jtrace::coreinspect {

inline constexpr std::size_t kMaxAttempts = 48;  // callers of one frame that are tried

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

  // The most probable caller first. For code that has built its frame, that is the one at the blob's frame size.
  std::vector<Caller> callers(const CodeBlob& blob, const At& at, Wanted wanted) const;
  // Whether the code before `pc` ends in a call.
  bool is_after_call(Address pc) const;
  // Callers of the interpreter before it has built its frame.
  std::vector<Caller> callers_without_frame(const At& at) const;

 private:
  class Candidates;

  const target::MemoryReader& memory_;
  const CodeCache& code_;
};

}  // namespace jtrace::coreinspect
