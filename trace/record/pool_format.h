// Initialises a pool: jtrace's part, before the agent sees it. Header only.
#pragma once

#include <cstring>

#include "trace/record/layout.h"

namespace jtrace::trace::record {

// Initialises an empty pool in `size` bytes of zeroed memory at `base` (page aligned); size >= kMinimumPoolSize.
inline Pool format_pool(void* base, std::uint64_t size, std::uint32_t chunk_size = kChunkSize) {
  Pool pool(base);
  PoolHeader& header = pool.header();
  const PoolShape shape = pool_shape(size, chunk_size);
  std::memcpy(header.magic, kPoolMagic, sizeof header.magic);
  header.layout_version = kLayoutVersion;
  header.header_size = kPoolHeaderSize;
  header.pool_size = size;
  header.data_offset = shape.data_offset;
  header.chunk_size = chunk_size;
  header.chunk_count = shape.chunk_count;
  header.next_producer.store(1, std::memory_order_relaxed);
  header.free_chunks.store(shape.chunk_count, std::memory_order_relaxed);
  return pool;
}

}  // namespace jtrace::trace::record
