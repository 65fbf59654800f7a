// RegionWriter: makes the bytes of an hsperfdata region, laid out as HotSpot's PerfMemory::alloc and
// PerfData::create_entry do (header, name, data aligned to its own size, entry rounded up to 8). For `hsperf restore`
// and for tests. Threads: one writer, one thread.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "perfdata/format.h"

namespace jtrace::perfdata {

class RegionWriter {
 public:
  explicit RegionWriter(std::endian order = std::endian::little);

  RegionWriter& add_long(std::string_view name, std::int64_t value, Units units = Units::kNone,
                         Variability variability = Variability::kVariable, std::uint8_t flags = 0);
  // `capacity` is the vector's length; 0 means the text's length and its NUL.
  RegionWriter& add_text(std::string_view name, std::string_view text, Variability variability = Variability::kConstant,
                         std::uint8_t flags = 0, std::size_t capacity = 0);
  // An entry as given; `value` is its data, byte for byte.
  RegionWriter& add_raw(std::string_view name, char type, std::uint32_t vector_length, std::uint8_t flags,
                        std::uint8_t units, std::uint8_t variability, std::span<const std::byte> value);

  RegionWriter& set_accessible(bool accessible);
  RegionWriter& set_version(std::uint8_t major, std::uint8_t minor);
  RegionWriter& set_overflow(std::uint32_t bytes);
  RegionWriter& set_modification(std::int64_t ns);

  // The region, prologue filled in, zero bytes after it up to `capacity` (never shorter than what is used).
  std::vector<std::byte> bytes(std::size_t capacity = 32768) const;

 private:
  template <class T>
  void store(std::vector<std::byte>& at, std::size_t offset, T value) const;

  std::endian order_;
  std::vector<std::byte> bytes_;
  std::uint32_t count_ = 0;
  std::uint32_t overflow_ = 0;
  std::int64_t modification_ns_ = 0;
};

}  // namespace jtrace::perfdata
