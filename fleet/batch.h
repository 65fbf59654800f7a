// Batch: some elements of a trace as one message: a header, and the elements as lines of XML (fragments), compressed.
// It is the same in a message, in a spool and in a file.
//
// Batches of one document form a stream and are numbered from 1. A stream consists of segments. `elements`, joined over
// all batches, are the document's own elements, each once and in its order. `restated` repeats definitions (and at a
// segment's begin the document's head) that elements of this batch refer to and that come before its segment: whoever
// begins at a segment reads restated and elements of each batch, and has every definition that is referred to.
//
// Bytes (little-endian): magic "JTB1", u16 version, u16 size of the header, u64 XXH64 of all that follows, the fields
// in the order of batch.cpp, six texts (u8 length, bytes), then one zstd frame. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jtrace::fleet {

inline constexpr std::uint16_t kBatchVersion = 1;
// Of restated and elements together. A batch that claims more is refused before anything is unpacked.
inline constexpr std::size_t kMaxUnpacked = 64u << 20;
// JetStream takes messages of 1 MiB with their headers by default (max_payload).
inline constexpr std::size_t kMaxBatch = 1'000'000;

struct BatchHeader {
  // Legal tokens of a subject (subject.h). `stream`: of this shipping of this document.
  std::string stream, node, process, agent, trace;
  std::string producer;  // "jtrace 0.1.0"
  std::uint64_t batch = 0;
  std::uint64_t previous = 0;  // the batch before it that was kept; those between were lost before they were sent
  std::uint32_t segment = 0;
  bool begins_segment = false;
  bool ends_stream = false;
  bool is_cut = false;                       // with ends_stream: the document from which the stream was made has no end
  std::uint32_t elements = 0, restated = 0;  // number of
  std::uint64_t elements_before = 0;         // in all batches before, the lost ones included
  std::uint64_t first_collation = 0, last_collation = 0;  // 0: no element has one
  std::uint64_t first_time = 0, last_time = 0;            // ns since the epoch; 0: no element has one
  std::uint64_t realtime = 0, monotonic = 0;              // of the sender, when the batch was closed
};

struct Batch {
  BatchHeader header;
  std::string restated, elements;
};

// kRefused: the batch is larger than kMaxBatch.
Result<std::string> encode_batch(const Batch& batch);
// kMalformed, with the reason, for anything that encode_batch() did not make: damage (checksum), another version, a
// header that does not hold.
Result<Batch> decode_batch(std::string_view bytes);
// The header alone; the checksum is compared.
Result<BatchHeader> decode_batch_header(std::string_view bytes);

}  // namespace jtrace::fleet
