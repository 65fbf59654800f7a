// MethodTable: the methods that have callouts, by the number that their callouts pass. Any thread; nothing is ever
// removed.
#pragma once

#include <jni.h>

#include <atomic>
#include <cstdint>

namespace jtrace::agent::jvmpi {

struct MethodSlot {
  std::atomic<jmethodID> id{nullptr};  // known after the first call
  bool open_start = false;             // MethodPlan::open_start
  bool is_instance = false;
  bool is_constructor = false;
};

class MethodTable {
 public:
  // The first of `count` new numbers; 0: none are left.
  std::uint32_t reserve(std::uint32_t count) {
    const std::uint32_t first = next_.fetch_add(count, std::memory_order_relaxed);
    return first + count < kChunk * kChunks ? first : 0;
  }
  // `number` is one that reserve() has returned.
  MethodSlot& at(std::uint32_t number) {
    std::atomic<MethodSlot*>& chunk = chunks_[number / kChunk];
    MethodSlot* slots = chunk.load(std::memory_order_acquire);
    if (slots == nullptr) {
      auto* made = new MethodSlot[kChunk];
      if (chunk.compare_exchange_strong(slots, made)) slots = made;
      else delete[] made;
    }
    return slots[number % kChunk];
  }

 private:
  static constexpr std::uint32_t kChunk = 4096;
  static constexpr std::uint32_t kChunks = 4096;
  std::atomic<std::uint32_t> next_{1};
  std::atomic<MethodSlot*> chunks_[kChunks] = {};
};

}  // namespace jtrace::agent::jvmpi
