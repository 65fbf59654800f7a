// MemoryReader: the source of a target's bytes: a live process, a core, a file, a buffer in a test.
//
// There is one virtual read function; all others use it. Addresses are the target's virtual addresses. Threads: const
// functions may be called from several threads unless a subclass says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "base/result.h"

namespace jtrace::target {

using Address = std::uint64_t;

class MemoryReader {
 public:
  virtual ~MemoryReader() = default;

  // Copies up to out.size() bytes from `address`; returns how many, at least 1. It returns fewer at the end of a
  // readable range. If nothing is readable at `address`, the error names the address.
  virtual Result<std::size_t> read_some(Address address, std::span<std::byte> out) const = 0;

  // The bytes from `address` on that are contiguous in this process's own memory, to be read without a copy; empty if
  // there are none. Valid as long as the object is not changed.
  virtual std::span<const std::byte> view(Address) const { return {}; }

  // Reads all of out.size() bytes, or returns an error that names the first address that cannot be read.
  Result<> read_exactly(Address address, std::span<std::byte> out) const;

  // Reads as far as the memory is readable: how many bytes, 0 if there are none.
  std::size_t read_available(Address address, std::span<std::byte> out) const;

  template <class T>
  requires std::is_trivially_copyable_v<T> Result<T> read(Address address)
  const {
    T value{};
    JTRACE_RETURN_IF_ERROR(read_exactly(address, std::as_writable_bytes(std::span<T, 1>(&value, 1))));
    return value;
  }

  // The bytes up to a NUL, at most `limit`; a longer string is an error.
  Result<std::string> read_cstring(Address address, std::size_t limit = 65536) const;

 protected:
  // As read_some(), for a text: what lies after a NUL is not needed.
  virtual Result<std::size_t> read_text(Address address, std::span<std::byte> out) const {
    return read_some(address, out);
  }
};

}  // namespace jtrace::target
