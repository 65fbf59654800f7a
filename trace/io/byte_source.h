// ByteSource: supplies the bytes of a trace from a file, standard input or memory. zstd and gzip are decompressed; they
// are recognised by their magic number, not by the name. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jtrace::trace::io {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to `size` bytes, 0 at the end. A compressed stream that is cut off or damaged ends there; truncated() is
  // then true.
  virtual Result<std::size_t> read(char* out, std::size_t size) = 0;
  virtual bool truncated() const { return false; }
  // The number of bytes read from the file so far (compressed bytes if it is compressed), and the file's size, 0 if
  // unknown.
  virtual std::uint64_t consumed() const = 0;
  virtual std::uint64_t size() const { return 0; }
};

// "-" is standard input. Errors name the path: not found, not readable, a directory.
Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path);
// `bytes`: borrowed. Decompressed if they begin with a known magic number.
Result<std::unique_ptr<ByteSource>> memory_byte_source(std::string_view bytes);

// Reads as much as fits, over short reads: less than `size` only at the end.
Result<std::size_t> read_fully(ByteSource& source, char* out, std::size_t size);

}  // namespace jtrace::trace::io
