// TopFrame: the possible callers of generated code that was interrupted at any instruction, not at a call.
//
// First comes what the instructions at the pc say, then the other possibilities (top_frame_x86_64.h,
// top_frame_aarch64.h). The walk shows which one is right: only that one leads to the thread's first frame. Borrows
// target, memory and code cache. Threads: one at a time.
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
    Address pc = 0, sp = 0, fp = 0, link = 0, sender_sp = 0;  // as target::Registers has them
    Address high = 0;                                         // end of the stack that is known
  };
  enum class Wanted { kFirst, kAll };  // the first is nearly always right, the others take longer

  TopFrame(const target::MemoryReader& memory, const target::Target& target, const CodeCache& code)
      : memory_(memory), target_(target), code_(code) {}

  // The most probable caller first. For code that has built its frame, that is the one at the blob's frame size.
  std::vector<Caller> callers(const CodeBlob& blob, const At& at, Wanted wanted) const;
  // Whether the code before `pc` ends in a call.
  bool is_after_call(Address pc) const;
  // Callers of the interpreter before it has built its frame.
  std::vector<Caller> callers_without_frame(const At& at) const;

 private:
  const target::MemoryReader& memory_;
  const target::Target& target_;
  const CodeCache& code_;
};

// The bytes at `at`, as far as they can be read.
std::vector<std::uint8_t> code_around(const target::MemoryReader& memory, Address at, std::size_t count);

}  // namespace jtrace::coreinspect
