// ByteSinks that pack what goes through them: zstd (level 1: smaller and faster than 3 on traces) and gzip. Owns the
// sink below, which gets the packed bytes and is finished with it. One thread at a time.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "trace/byte_sink.h"

namespace jtrace::trace::io {

enum class Compression { kNone, kZstd, kGzip };

// By the end of a file's name: .zst, .gz.
Compression compression_of_name(std::string_view name);
// The name without that end: "a.json.gz" -> "a.json".
std::string_view without_compression(std::string_view name);

enum class Framing {
  kOne,  // one frame (zstd) or member (gzip) from the first byte to the last: the smallest
  // One for all that a flush, or a full buffer, hands down: what was flushed can be read whatever happens then, and a
  // full disk leaves whole ones. Readers take them as one stream.
  kEachFlush,
};

// kNone gives `below` itself.
Result<std::unique_ptr<ByteSink>> compressing(std::unique_ptr<ByteSink> below, Compression compression,
                                              Framing framing = Framing::kOne);

}  // namespace jtrace::trace::io
