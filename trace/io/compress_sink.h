// ByteSinks that compress: zstd (level 1, which is smaller and faster than 3 on traces) and gzip. Each owns the sink
// below it, which gets the compressed bytes and is finished with it. One thread at a time.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "trace/byte_sink.h"

namespace jtrace::trace::io {

enum class Compression { kNone, kZstd, kGzip };

// Chosen by the end of a file's name: .zst, .gz.
Compression compression_of_name(std::string_view name);
// The name without that end: "a.json.gz" -> "a.json".
std::string_view without_compression(std::string_view name);

enum class Framing {
  kOne,  // one frame (zstd) or member (gzip) from the first byte to the last: the smallest
  // One for each flush or full buffer: flushed data can be read whatever happens later, and a full disk leaves complete
  // ones. Readers treat them as one stream.
  kEachFlush,
};

// For kNone, returns `below` itself.
Result<std::unique_ptr<ByteSink>> compressing(std::unique_ptr<ByteSink> below, Compression compression,
                                              Framing framing = Framing::kOne);

}  // namespace jtrace::trace::io
