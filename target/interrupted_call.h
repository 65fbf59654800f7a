// Whether a tracer's stop interrupted a thread in a system call in which it slept. Header only. Pure; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "target/isa_aarch64.h"
#include "target/isa_x86_64.h"
#include "target/registers.h"

namespace jtrace::target {

// The kernel then leaves one of these as the call's result, with which it is begun again (include/linux/errno.h:
// ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK). Programs do not see them.
inline bool is_interrupted_call(const Registers& registers) {
  constexpr std::array<std::int64_t, 4> kRestarts = {-512, -513, -514, -516};
  const std::size_t result_register =
      registers.isa == Isa::kAarch64 ? std::size_t{aarch64::kX0} : std::size_t{x86_64::kRax};
  const auto result = static_cast<std::int64_t>(registers.words[result_register]);
  return std::find(kRestarts.begin(), kRestarts.end(), result) != kRestarts.end();
}

}  // namespace jtrace::target
