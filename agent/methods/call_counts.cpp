#include "agent/methods/call_counts.h"

#include "agent/anonymous_memory.h"

namespace jtrace::agent {
bool CallCounts::make() {
  entries_ = static_cast<Entry*>(anonymous_memory(kEntries * sizeof(Entry)));
  if (entries_ == nullptr) return false;
  // A thread whose java.lang.Thread is still being created (AttachCurrentThread) makes calls before it has a threadId.
  // Its id is 0, which must not be the id of an owner.
  entries_[0].owner.store(kSharing, std::memory_order_seq_cst);
  return true;
}

// Called only by the owner of the block.
bool CallCounts::map(Block& block) {
  if (block.address.load(std::memory_order_relaxed) != 0) return true;
  void* memory = anonymous_memory(kBlockSize);
  block.address.store(reinterpret_cast<std::uint64_t>(memory), std::memory_order_release);
  return memory != nullptr;
}

bool CallCounts::start(std::uint64_t own_thread) {
  stop();
  for (Block& block : blocks_) {
    block.owner.store(kNobody, std::memory_order_relaxed);
    clear(block);
  }
  clear(shared_block_);
  if (!map(shared_block_) || !map(own_block_)) return false;
  if (const std::uint64_t at = own_thread & (kEntries - 1); at != 0) {
    entries_[at].block.store(own_block_.address.load(std::memory_order_relaxed), std::memory_order_relaxed);
    entries_[at].owner.store(own_thread, std::memory_order_release);
  }
  shared_.store(shared_block_.address.load(std::memory_order_relaxed), std::memory_order_seq_cst);
  return true;
}

void CallCounts::clear(const Block& block) {
  if (const std::uint64_t address = block.address.load(std::memory_order_relaxed); address != 0)
    madvise(reinterpret_cast<void*>(address), kBlockSize, MADV_DONTNEED);  // the block now reads as zeros
}

void CallCounts::stop() {
  shared_.store(0, std::memory_order_seq_cst);
  for (std::uint64_t i = 0; i < kEntries; ++i)
    if (entries_[i].owner.load(std::memory_order_relaxed) != kNobody)
      entries_[i].owner.store(i == 0 ? kSharing : kNobody, std::memory_order_seq_cst);
}

void CallCounts::claim(std::uint64_t thread) {
  if (shared_.load(std::memory_order_seq_cst) == 0) return;
  Entry& entry = entries_[thread & (kEntries - 1)];
  std::uint64_t nobody = kNobody;
  if (!entry.owner.compare_exchange_strong(nobody, kBusy)) return;
  for (Block& block : blocks_) {
    nobody = kNobody;
    if (block.owner.load(std::memory_order_relaxed) != kNobody || !block.owner.compare_exchange_strong(nobody, thread))
      continue;
    if (!map(block)) {
      block.owner.store(kNobody, std::memory_order_release);
      break;
    }
    entry.block.store(block.address.load(std::memory_order_relaxed), std::memory_order_relaxed);
    entry.owner.store(thread, std::memory_order_release);
    return;
  }
  entry.owner.store(kSharing, std::memory_order_release);
}

void CallCounts::release(std::uint64_t thread) {
  const std::uint64_t at = thread & (kEntries - 1);
  Entry& entry = entries_[at];
  std::uint64_t mine = thread;
  if (at == 0) return;
  // If the thread had no block of its own, the next thread with this entry may take the block that becomes free now.
  if (!entry.owner.compare_exchange_strong(mine, kNobody) && mine == kSharing)
    entry.owner.compare_exchange_strong(mine, kNobody);
  for (Block& block : blocks_) {
    mine = thread;
    if (block.owner.compare_exchange_strong(mine, kNobody)) return;
  }
}

std::uint64_t CallCounts::sum(std::uint32_t number) const {
  const std::size_t index = number & (kMethods - 1);
  std::uint64_t total = 0;
  const auto add = [&](const Block& block) {
    const std::uint64_t address = block.address.load(std::memory_order_acquire);
    if (address != 0)
      total += reinterpret_cast<const std::atomic<std::uint64_t>*>(address)[index].load(std::memory_order_relaxed);
  };
  add(shared_block_);
  for (const Block& block : blocks_) add(block);
  return total;
}

}  // namespace jtrace::agent
