// ByteSource: where the bytes of a trace come from: a file, standard input, memory; zstd and gzip are unpacked on the
// way, recognised by their magic, not by the name. One thread at a time.
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
  // Up to `size` bytes, 0 at the end. A compressed stream that is cut or whose tail is spoilt ends where it breaks:
  // truncated() is true then.
  virtual Result<std::size_t> read(char* out, std::size_t size) = 0;
  virtual bool truncated() const { return false; }
  // Bytes taken from the file so far, packed ones where it is packed; and its size, 0 where nobody knows.
  virtual std::uint64_t consumed() const = 0;
  virtual std::uint64_t size() const { return 0; }
};

// "-" is standard input. Errors name the path: not there, not readable, a folder.
Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path);
// `bytes`: borrowed. Unpacked where they begin with a known magic.
Result<std::unique_ptr<ByteSource>> memory_byte_source(std::string_view bytes);

// As much as fits, over short reads: less than `size` only at the end.
Result<std::size_t> read_fully(ByteSource& source, char* out, std::size_t size);

}  // namespace jtrace::trace::io
