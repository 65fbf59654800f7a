#include "coreinspect/unwind/top_frame.h"

#include <algorithm>

#include "coreinspect/unwind/top_frame_aarch64.h"
#include "coreinspect/unwind/top_frame_x86_64.h"

namespace jtrace::coreinspect {

std::vector<std::uint8_t> code_around(const target::MemoryReader& memory, Address at, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  bytes.resize(memory.read_available(at, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

std::vector<Caller> TopFrame::callers(const CodeBlob& blob, const At& at, Wanted wanted) const {
  return target_.isa() == target::Isa::kAarch64 ? aarch64::callers(memory_, target_, code_, blob, at)
                                                : x86_64::callers(memory_, code_, blob, at, wanted);
}

bool TopFrame::is_after_call(Address pc) const {
  return target_.isa() == target::Isa::kAarch64 ? aarch64::is_after_call(memory_, pc)
                                                : x86_64::is_after_call(memory_, pc);
}

std::vector<Caller> TopFrame::callers_without_frame(const At& at) const {
  return target_.isa() == target::Isa::kAarch64 ? aarch64::callers_without_frame(memory_, target_, code_, at)
                                                : x86_64::callers_without_frame(memory_, code_, at);
}

}  // namespace jtrace::coreinspect
