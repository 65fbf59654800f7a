// libFuzzer program: any bytes as ring memory that a foreign process has written, through the reader, the decoders and
// the event builder into XML: live passes, release, a second reader. The input is either the whole pool or the contents
// of the chunks of a pool with a valid header.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "session/document/event_builder.h"
#include "trace/byte_sink.h"
#include "trace/record/pool_format.h"
#include "trace/record/pool_reader.h"
#include "trace/xml_writer.h"

namespace {

using namespace jtrace;
namespace record = trace::record;

constexpr std::uint32_t kChunk = 1024;
constexpr std::size_t kSize = 64 << 10;

void drain(std::span<std::byte> memory, record::PoolReader::Mode mode) {
  auto reader = record::PoolReader::open(memory);
  if (!reader) return;
  trace::MemorySink bytes;
  trace::XmlWriter writer(bytes);
  trace::EventEmitter emitter(writer);
  session::EventBuilder builder(emitter, {},
                                {.events = ~0ull, .all_loaded_classes = true, .nested_frees = memory.size() % 32 == 0});
  for (int pass = 0; pass < 3; ++pass) {
    const auto done = reader->drain(builder, mode, 1000);
    if (!done || !builder.on_time(done->time)) break;
    if (mode != record::PoolReader::Mode::kReadOnly) reader->release(false);
  }
  (void)builder.finish();
  (void)reader->session_text();
}

// Writes the input into the headers and data of the chunks, after a valid pool header.
void fill(std::span<std::byte> memory, const std::uint8_t* data, std::size_t size) {
  record::Pool pool = record::format_pool(memory.data(), memory.size(), kChunk);
  const std::size_t headers = std::min<std::size_t>(size, 8 * sizeof(record::ChunkHeader));
  std::memcpy(static_cast<void*>(&pool.chunk(0)), data, headers);
  const std::size_t rest = std::min<std::size_t>(size - headers, 8 * kChunk);
  if (rest != 0) std::memcpy(pool.data(0), data + headers, rest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Mode = record::PoolReader::Mode;
  std::unique_ptr<std::byte, void (*)(void*)> memory(static_cast<std::byte*>(std::aligned_alloc(4096, kSize)),
                                                     &std::free);
  const std::span<std::byte> pool(memory.get(), kSize);
  std::memset(pool.data(), 0, pool.size());
  if (size >= record::kPoolHeaderSize && std::memcmp(data, record::kPoolMagic, sizeof record::kPoolMagic) == 0) {
    std::memcpy(pool.data(), data, std::min(size, kSize));
    drain(pool.first(std::min(size, kSize)), Mode::kFinal);
    return 0;
  }
  for (const Mode mode : {Mode::kReadOnly, Mode::kLive, Mode::kFinal}) {
    fill(pool, data, size);
    drain(pool, mode);
  }
  return 0;
}
