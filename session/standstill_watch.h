// StandstillWatch: checks at intervals whether the process is stopped. It reports the time from the first check that
// found it standing still to the last one. One thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "session/document/trace_drain.h"
#include "target/standstill.h"

namespace jtrace::session {

class StandstillWatch {
 public:
  // `process`: borrowed.
  explicit StandstillWatch(const target::Process& process) : standstill_(process) {}

  // The result of a check, if one is due; nullopt if none is, or if nothing has changed.
  std::optional<StandstillNote> look() {
    const std::uint64_t now = monotonic_ns();
    if (now < next_look_) return std::nullopt;
    next_look_ = now + kInterval;
    const bool still = standstill_.is_still();
    if (!still && !stands_still_) return std::nullopt;
    if (still) still_until_ = stands_still_ ? now : monotonic_ns();
    stands_still_ = still;
    return StandstillNote{still_until_, still};
  }

 private:
  static constexpr std::uint64_t kInterval = 50'000'000;  // ns between two checks
  target::Standstill standstill_;
  bool stands_still_ = false;
  std::uint64_t still_until_ = 0;  // when it was last seen standing still
  std::uint64_t next_look_ = 0;
};

}  // namespace jtrace::session
