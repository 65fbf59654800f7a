// Patience: tries again what found no room in the pool, because the drainer frees room. It waits only once for a
// drainer that does not come: after that everybody fails at once, until the drainer has made another pass.
//
// Threads: any that may wait for the drainer.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/producer.h"

namespace jtrace::agent {

class Patience {
 public:
  explicit Patience(const PoolWriter& writer) : writer_(writer) {}
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  // `attempt` returns true when it has succeeded. False: it has not, in about five seconds.
  template <class Try>
  bool until(Try&& attempt) {
    if (attempt()) return true;
    for (int i = 0; i < kWaits; ++i) {
      const std::uint64_t pass = next_pass();
      if (stalled_at_pass_.load(std::memory_order_relaxed) == pass) return false;
      writer_.wait_for_pass(kWaitNs);
      if (attempt()) return true;
      if (i == kWaits - 1) stalled_at_pass_.store(pass, std::memory_order_relaxed);
    }
    return false;
  }

 private:
  static constexpr int kWaits = 50;
  static constexpr std::uint64_t kWaitNs = 100'000'000;

  std::uint64_t next_pass() const {
    return std::uint64_t{writer_.pool.header().drained_pass.load(std::memory_order_relaxed)} + 1;
  }

  const PoolWriter& writer_;
  std::atomic<std::uint64_t> stalled_at_pass_{0};  // the pass for which a wait failed; 0: none
};

}  // namespace jtrace::agent
