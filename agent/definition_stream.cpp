#include "agent/definition_stream.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"

namespace jtrace::agent {

bool DefinitionStream::reserve(std::size_t size) {
  const std::size_t chunk_size = writer_.pool.header().chunk_size;
  std::size_t room = (chunk_ < 0 ? 0 : chunk_size - position_) + (reserved_.size() - next_reserved_) * chunk_size;
  while (room < size) {
    const std::int64_t index = writer_.take_chunk(record::kDefinitionProducer, sequence_, 0);
    if (index < 0) return false;  // what was taken is kept for the next one
    ++sequence_;
    reserved_.push_back(index);
    room += chunk_size;
  }
  return true;
}

void DefinitionStream::copy(const unsigned char* bytes, std::size_t size) {
  const std::uint32_t chunk_size = writer_.pool.header().chunk_size;
  while (size > 0) {
    if (chunk_ < 0 || position_ == chunk_size) {
      if (chunk_ >= 0) {
        record::ChunkHeader& full = writer_.pool.chunk(static_cast<std::uint32_t>(chunk_));
        full.owner.store(0, std::memory_order_release);
        full.state.store(static_cast<std::uint32_t>(record::ChunkState::kFinished), std::memory_order_release);
      }
      chunk_ = reserved_[next_reserved_++];
      position_ = 0;
      if (next_reserved_ == reserved_.size()) {
        reserved_.clear();
        next_reserved_ = 0;
      }
    }
    const auto part = static_cast<std::uint32_t>(std::min<std::size_t>(size, chunk_size - position_));
    std::memcpy(writer_.pool.data(static_cast<std::uint32_t>(chunk_)) + position_, bytes, part);
    position_ += part;
    bytes += part;
    size -= part;
    writer_.pool.chunk(static_cast<std::uint32_t>(chunk_)).committed.store(position_, std::memory_order_release);
  }
}

bool DefinitionStream::try_append(Definition& definition) {
  pthread_mutex_lock(&lock_);
  const bool room = reserve(definition.size());
  if (room) {
    definition.overwrite(record::kDefinitionTimeOffset, monotonic_ns());
    copy(definition.data(), definition.size());
  }
  pthread_mutex_unlock(&lock_);
  return room;
}

// Waits for the drainer's next pass; false if the wait that began at `since` has reached the policy's limit.
bool DefinitionStream::wait_for_room(std::uint64_t since) {
  record::PoolHeader& header = writer_.pool.header();
  const std::uint64_t pass = std::uint64_t{header.drained_pass.load(std::memory_order_relaxed)} + 1;
  if (stalled_at_pass_.load(std::memory_order_relaxed) == pass) return false;
  const std::uint64_t waited = monotonic_ns() - since;
  const std::uint64_t limit = writer_.policy.block_limit_ns.load(std::memory_order_relaxed);
  if (waited < limit) {
    writer_.wait_for_pass(limit - waited);
    return true;
  }
  stalled_at_pass_.store(pass, std::memory_order_relaxed);
  return false;
}

bool DefinitionStream::append(Definition& definition, bool may_block) {
  definition.overwrite(0, static_cast<std::uint32_t>(definition.size() - sizeof(std::uint32_t)));
  if (try_append(definition)) return true;
  record::PoolHeader& header = writer_.pool.header();
  bool room = false;
  if (may_block && writer_.policy.block) {
    const std::uint64_t since = monotonic_ns();
    while (!room && wait_for_room(since)) room = try_append(definition);
    header.blocked_ns.fetch_add(monotonic_ns() - since, std::memory_order_relaxed);
  }
  if (!room) header.dropped_definitions.fetch_add(1, std::memory_order_relaxed);
  return room;
}

bool DefinitionStream::append_option(std::string_view key, std::string_view value) {
  Definition definition(0, record::OptionFields{.key = key, .value = value});
  return append(definition);
}

}  // namespace jtrace::agent
