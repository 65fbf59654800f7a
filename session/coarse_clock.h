// CoarseClock: advances the coarse clock of a pool (trace/record/layout.h) from a thread of its own, while in scope:
// every 100 us, and every ms if nothing was written for a while. The agent advances it too, at each chunk.
#pragma once

#include <atomic>
#include <thread>

#include "trace/record/pool_reader.h"

namespace jtrace::session {

class CoarseClock {
 public:
  explicit CoarseClock(const trace::record::PoolReader& reader);
  CoarseClock(const CoarseClock&) = delete;
  CoarseClock& operator=(const CoarseClock&) = delete;
  ~CoarseClock();

  // Something was just written.
  void keep_fast() { busy_.store(kFastTicks, std::memory_order_relaxed); }

 private:
  static constexpr int kFastTicks = 10'000;  // a second
  void run();

  const trace::record::PoolReader& reader_;
  std::atomic<bool> ends_{false};
  std::atomic<int> busy_{kFastTicks};
  std::thread thread_;
};

}  // namespace jtrace::session
