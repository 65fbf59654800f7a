// CallCounts: the counters of methodCount. Every thread that makes calls has a block of counters, which its callouts
// increment with plain stores (callout_class.h, count()). Threads for which no block is left share one block and use
// atomic additions. So no call is lost, however many threads there are.
//
// A part of CalloutArea: its memory is never unmapped, because a callout may be between two instructions when counting
// ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jtrace::agent {

class CallCounts {
 public:
  // Counters of a block. A method's counter is at its number modulo this.
  static constexpr std::uint32_t kMethods = 1u << 19;
  // A thread's entry is at its threadId modulo this. A thread that finds it taken counts in the shared block.
  static constexpr std::uint64_t kEntries = 1u << 16;
  // Each has 4 MiB of addresses, and memory where it is touched.
  static constexpr std::uint32_t kBlocks = 64;

  // What a callout finds by its threadId. `block` is valid if `owner` is the thread.
  struct Entry {
    std::atomic<std::uint64_t> owner;  // threadId, kNobody, kBusy, kSharing
    std::atomic<std::uint64_t> block;  // address
  };

  // Counts from zero; calls of `own_thread` are not counted. False if there is no memory.
  bool start(std::uint64_t own_thread);
  // Threads no longer find counters; the counts stay until the next start().
  void stop();
  // Gives the calling thread a block, or the mark that it shares one.
  void claim(std::uint64_t thread);
  // The thread ends: its block becomes free.
  void release(std::uint64_t thread);
  std::uint64_t sum(std::uint32_t number) const;

  // For the callouts: the table, and the word with the address of the shared block (0 while nothing is counted).
  std::uint64_t entries_address() const { return reinterpret_cast<std::uint64_t>(entries_); }
  std::uint64_t shared_address() const { return reinterpret_cast<std::uint64_t>(&shared_); }

  // The table; set when the area is made.
  bool make();

 private:
  static constexpr std::uint64_t kNobody = 0;
  static constexpr std::uint64_t kBusy = ~0ull;         // being claimed
  static constexpr std::uint64_t kSharing = ~0ull - 1;  // its thread found no block of its own
  static constexpr std::size_t kBlockSize = std::size_t{kMethods} * sizeof(std::uint64_t);

  struct Block {
    std::atomic<std::uint64_t> owner{kNobody};
    std::atomic<std::uint64_t> address{0};  // once it has memory
  };
  bool map(Block& block);
  static void clear(const Block& block);

  Entry* entries_ = nullptr;
  std::atomic<std::uint64_t> shared_{0};
  Block shared_block_;
  Block own_block_;  // of the agent's thread; it is not read
  Block blocks_[kBlocks];
};

}  // namespace jtrace::agent
