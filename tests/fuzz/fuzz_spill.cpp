// libFuzzer program: any bytes as a spill, through the reader, the replay and the drainer into XML. An input that does
// not begin like a spill supplies the payloads of otherwise valid blocks, each after a head: u8 kind | u8 producer |
// u16 size | payload.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "session/spill/spill_source.h"
#include "trace/byte_sink.h"
#include "trace/io/byte_source.h"
#include "trace/record/spill_writer.h"
#include "trace/xml_writer.h"

namespace {

using namespace jtrace;
namespace record = trace::record;

void convert(std::string_view bytes) {
  trace::io::FaultLog faults;
  auto source = trace::io::memory_byte_source(bytes);
  if (!source) return;
  auto spill = session::open_spill(std::move(*source), "fuzz", faults);
  if (!spill) return;
  trace::MemorySink sink;
  trace::XmlWriter writer(sink);
  (void)(*spill)->read(writer);
  (void)writer.finish();
}

void write_head(record::SpillWriter& writer) {
  (void)writer.begin();
  (void)writer.write(record::BlockKind::kSession, "session=1\nevent_bits=4294967295\n");
  const record::StartBlock start{{1, 2}, 3, 0};
  std::string block(reinterpret_cast<const char*>(&start), sizeof start);
  (void)writer.write(record::BlockKind::kTraceStart, block + std::string(record::kTraceIdSize, 'a'));
}

std::string around(const std::uint8_t* data, std::size_t size) {
  trace::MemorySink sink;
  record::SpillWriter writer(sink);
  write_head(writer);
  while (size >= 4) {
    const std::size_t part = std::min<std::size_t>(size - 4, static_cast<std::size_t>(data[2] | data[3] << 8));
    const record::EventPart payload{.producer = data[1],
                                    .sequence = 0,
                                    .offset = 0,
                                    .data = reinterpret_cast<const std::byte*>(data + 4),
                                    .size = part};
    std::span<const std::byte> copy;
    (void)writer.write_part(static_cast<record::BlockKind>(1 + data[0] % 9), payload, copy);
    data += 4 + part;
    size -= 4 + part;
  }
  (void)sink.flush();
  return sink.text();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (session::is_spill(bytes)) convert(bytes);
  else convert(around(data, size));
  return 0;
}
