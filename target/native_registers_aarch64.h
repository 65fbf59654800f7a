// Part of target/native_registers.h: arch/arm64/include/uapi/asm/perf_regs.h: x0 to x30, sp, pc, in the order of
// user_pt_regs.
#pragma once

#include <array>
#include <cstdint>

#include "target/isa_aarch64.h"

namespace jtrace::target::aarch64 {

inline constexpr std::uint64_t kPerfRegisters = (std::uint64_t{1} << (kPc + 1)) - 1;
inline constexpr auto kPerfOrder = [] {
  std::array<std::size_t, kPc + 1> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  return order;
}();

inline constexpr std::uint32_t kVectorsNote = 0;

// The result of a system call.
inline constexpr std::size_t kCallResult = kX0;

}  // namespace jtrace::target::aarch64
