#include "agent/pool_writer.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

namespace jtrace::agent {
namespace {

// Free chunks that events leave alone.
std::uint32_t reserve_of(const record::PoolHeader& header) {
  return header.chunk_count / record::kDefinitionReserveShare;
}

bool has_more_than(const record::PoolHeader& header, std::uint32_t chunks) {
  return static_cast<std::int32_t>(header.free_chunks.load(std::memory_order_relaxed)) >
         static_cast<std::int32_t>(chunks);
}

}  // namespace

bool PoolWriter::has_room() const { return has_more_than(pool.header(), reserve_of(pool.header())); }

bool PoolWriter::has_room_again() const {
  const record::PoolHeader& header = pool.header();
  const std::uint32_t wanted = header.resume_above.load(std::memory_order_relaxed);
  return has_more_than(header, wanted > reserve_of(header) ? wanted : reserve_of(header));
}

std::int64_t PoolWriter::take_chunk(std::uint32_t producer, std::uint32_t sequence, std::uint32_t tid) const {
  record::PoolHeader& header = pool.header();
  const std::uint32_t count = header.chunk_count;
  const std::uint32_t reserve = producer == record::kDefinitionProducer ? 0 : reserve_of(header);
  if (!has_more_than(header, reserve)) return -1;
  const std::uint32_t start = header.free_hint.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t index = (start + i) % count;
    record::ChunkHeader& chunk = pool.chunk(index);
    auto expected = static_cast<std::uint32_t>(record::ChunkState::kFree);
    if (chunk.state.load(std::memory_order_relaxed) != expected) continue;
    if (!chunk.state.compare_exchange_strong(expected, static_cast<std::uint32_t>(record::ChunkState::kOwned)))
      continue;
    header.free_chunks.fetch_sub(1, std::memory_order_relaxed);
    header.free_hint.store((index + 1) % count, std::memory_order_relaxed);
    chunk.tid = tid;
    chunk.producer = producer;
    chunk.sequence = sequence;
    chunk.owner.store(record::owner_token(producer, sequence), std::memory_order_release);
    return index;
  }
  return -1;
}

void PoolWriter::wait_for_pass(std::uint64_t limit_ns) const {
  std::atomic<std::uint32_t>& pass = pool.header().drained_pass;
  const std::uint32_t seen = pass.load(std::memory_order_acquire);
  timespec limit{static_cast<time_t>(limit_ns / kNanosPerSecond), static_cast<long>(limit_ns % kNanosPerSecond)};
  // Shared between processes, hence not the private futex.
  syscall(SYS_futex, &pass, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void PoolWriter::stop_waiting() {
  policy.block_limit_ns.store(0);
  std::atomic<std::uint32_t>& pass = pool.header().drained_pass;
  pass.fetch_add(1);
  syscall(SYS_futex, &pass, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace jtrace::agent
