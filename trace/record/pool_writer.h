// The writer's side of the pool (layout.h) for tests and benchmarks: it does what the agent's producers do
// (agent/producer.h), without a JVM. Header only. Threads: an EventWriter belongs to one thread (one producer); a
// DefinitionWriter is used under the caller's lock.
#pragma once

#include <cstring>

#include "base/clock.h"
#include "trace/record/event_record.h"
#include "trace/record/layout.h"
#include "trace/record/pool_format.h"

namespace jtrace::trace::record {

inline constexpr std::uint32_t kNoChunk = 0xffffffff;

// Takes a free chunk for (producer, sequence), or returns kNoChunk. Events leave the reserve to the definitions.
inline std::uint32_t take_chunk(const Pool& pool, std::uint32_t producer, std::uint32_t sequence, std::uint32_t tid) {
  PoolHeader& header = pool.header();
  const std::uint32_t count = header.chunk_count;
  if (producer != kDefinitionProducer &&
      header.free_chunks.load(std::memory_order_relaxed) <= count / kDefinitionReserveShare)
    return kNoChunk;
  const std::uint32_t start = header.free_hint.load(std::memory_order_relaxed);
  for (std::uint32_t step = 0; step < count; ++step) {
    const std::uint32_t index = (start + step) % count;
    ChunkHeader& chunk = pool.chunk(index);
    auto expected = static_cast<std::uint32_t>(ChunkState::kFree);
    if (chunk.state.load(std::memory_order_relaxed) != expected) continue;
    if (!chunk.state.compare_exchange_strong(expected, static_cast<std::uint32_t>(ChunkState::kOwned))) continue;
    header.free_chunks.fetch_sub(1, std::memory_order_relaxed);
    header.free_hint.store(index + 1, std::memory_order_relaxed);
    chunk.tid = tid;
    chunk.producer = producer;
    chunk.sequence = sequence;
    chunk.owner.store(owner_token(producer, sequence), std::memory_order_release);
    return index;
  }
  return kNoChunk;
}

class EventWriter {
 public:
  explicit EventWriter(const Pool& pool, std::uint32_t tid = 0)
      : pool_(pool), tid_(tid), producer_(pool.header().next_producer.fetch_add(1, std::memory_order_relaxed)) {}
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // Writes `record` (a struct of event_record.h); sets its kind and slots and, if `time` is 0, its time. False: no
  // room, counted in the header as dropped.
  template <class Record>
  bool write(Record record, RecordKind kind, std::uint64_t time = 0) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (!enter()) break;
      ChunkHeader& chunk = pool_.chunk(chunk_);
      const std::uint64_t offset = chunk.committed.load(std::memory_order_relaxed);
      if (offset + sizeof(Record) > pool_.header().chunk_size) {
        finish();
        continue;
      }
      record.header.kind = kind;
      record.header.slots = slots_of<Record>();
      record.header.time = time != 0 ? time : monotonic_ns();
      std::memcpy(pool_.data(chunk_) + offset, &record, sizeof record);
      chunk.committed.store(offset + sizeof record, std::memory_order_release);
      chunk.owner.store(token_, std::memory_order_release);
      return true;
    }
    pool_.header().dropped_events.fetch_add(1, std::memory_order_relaxed);
    return false;
  }

  // The thread ends: gives its chunk to the drainer.
  void close() {
    if (chunk_ != kNoChunk && mark_pending()) finish();
    chunk_ = kNoChunk;
  }
  std::uint32_t producer() const { return producer_; }
  std::uint32_t chunk() const { return chunk_; }

 private:
  // Returns with bit 0 of the chunk's owner word set.
  bool enter() {
    if (chunk_ != kNoChunk && mark_pending()) return true;
    chunk_ = take_chunk(pool_, producer_, sequence_, tid_);
    if (chunk_ == kNoChunk) return false;
    token_ = owner_token(producer_, sequence_++);
    return mark_pending();
  }
  bool mark_pending() {
    std::uint64_t expected = token_;
    return pool_.chunk(chunk_).owner.compare_exchange_strong(expected, token_ | kOwnerPending);
  }
  // After the second store the chunk is not accessed any more: the drainer may free it at once.
  void finish() {
    pool_.chunk(chunk_).owner.store(0, std::memory_order_release);
    pool_.chunk(chunk_).state.store(static_cast<std::uint32_t>(ChunkState::kFinished), std::memory_order_release);
    chunk_ = kNoChunk;
  }

  Pool pool_;
  std::uint32_t tid_;
  std::uint32_t producer_;
  std::uint32_t sequence_ = 0;
  std::uint32_t chunk_ = kNoChunk;
  std::uint64_t token_ = 0;
};

// The stream of definitions: bytes one after another over the chunks of producer 0.
class DefinitionWriter {
 public:
  explicit DefinitionWriter(const Pool& pool) : pool_(pool) {}

  // Writes all of the bytes, or none (false, counted) if the pool has no free chunk at the start. A record that begins
  // and then finds no chunk leaves the stream cut off: callers with long records check the room first.
  bool write(const void* bytes, std::size_t size) {
    const char* from = static_cast<const char*>(bytes);
    while (size > 0) {
      if (chunk_ == kNoChunk) {
        chunk_ = take_chunk(pool_, kDefinitionProducer, sequence_, 0);
        if (chunk_ == kNoChunk) {
          pool_.header().dropped_definitions.fetch_add(1, std::memory_order_relaxed);
          return false;
        }
        ++sequence_;
      }
      ChunkHeader& chunk = pool_.chunk(chunk_);
      const std::uint64_t offset = chunk.committed.load(std::memory_order_relaxed);
      const std::size_t room = pool_.header().chunk_size - offset;
      const std::size_t part = size < room ? size : room;
      std::memcpy(pool_.data(chunk_) + offset, from, part);
      chunk.committed.store(offset + part, std::memory_order_release);
      from += part;
      size -= part;
      if (part == room) {
        chunk.state.store(static_cast<std::uint32_t>(ChunkState::kFinished), std::memory_order_release);
        chunk_ = kNoChunk;
      }
    }
    return true;
  }

 private:
  Pool pool_;
  std::uint32_t sequence_ = 0;
  std::uint32_t chunk_ = kNoChunk;
};

}  // namespace jtrace::trace::record
