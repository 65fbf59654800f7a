// TopFrame for x86-64: what the instructions at the pc say (top_frame_code_x86_64.h), a return address on top of the
// stack, a chain of frame pointers, a return address further up.
#pragma once

#include "coreinspect/unwind/top_frame.h"

namespace jtrace::coreinspect::x86_64 {

std::vector<Caller> callers(const target::MemoryReader& memory, const CodeCache& code, const CodeBlob& blob,
                            const TopFrame::At& at, TopFrame::Wanted wanted);
std::vector<Caller> callers_without_frame(const target::MemoryReader& memory, const CodeCache& code,
                                          const TopFrame::At& at);

bool is_after_call(const target::MemoryReader& memory, Address pc);

}  // namespace jtrace::coreinspect::x86_64
