// Whether a tracer's stop interrupted a thread in a system call in which it slept. Header only. Pure; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "target/native_registers.h"

namespace jtrace::target {

// `registers`: of a live thread. The kernel then leaves one of these as the call's result, with which it is begun again
// (include/linux/errno.h: ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK). Programs do not see
// them.
inline bool is_interrupted_call(const Registers& registers) {
  constexpr std::array<std::int64_t, 4> kRestarts = {-512, -513, -514, -516};
  const auto result = static_cast<std::int64_t>(registers.words[kCallResult]);
  return std::find(kRestarts.begin(), kRestarts.end(), result) != kRestarts.end();
}

}  // namespace jtrace::target
