// MemoryReader: where bytes of a target come from: a live process, a core, a file, a buffer in a test.
//
// One virtual read; everything else stands on it. Addresses are the target's own virtual addresses.
// Threads: const functions may be called from several threads unless a subclass says otherwise.
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

  // Copies up to out.size() bytes from `address`; returns how many, at least 1. Fewer where the readable range ends.
  // Nothing readable at `address` is an error that names the address.
  virtual Result<std::size_t> read_some(Address address, std::span<std::byte> out) const = 0;

  // The bytes from `address` on that lie in one piece in this process's own memory, to be read without a copy; empty
  // where there are none. Valid as long as the object is not changed.
  virtual std::span<const std::byte> view(Address) const { return {}; }

  // All of out.size() bytes, or an error that names the first address that cannot be read.
  Result<> read_exactly(Address address, std::span<std::byte> out) const;

  template <class T>
  requires std::is_trivially_copyable_v<T> Result<T> read(Address address)
  const {
    T value{};
    JTRACE_RETURN_IF_ERROR(read_exactly(address, std::as_writable_bytes(std::span<T, 1>(&value, 1))));
    return value;
  }

  // Bytes up to a NUL, at most `limit`; longer is an error.
  Result<std::string> read_cstring(Address address, std::size_t limit = 65536) const;
};

}  // namespace jtrace::target
