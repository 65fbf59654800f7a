// Layout: the counters of an hsperfdata region, and the places of their values.
//
// Parsed from a private copy of the region's bytes (file, process memory, core, saved file, either byte order). The
// bytes may be hostile: every offset is checked, nothing is quadratic, at most kMaxRegionSize bytes are read. HotSpot
// never moves or removes entries, so a Layout is valid for a region until its prologue's used or entry_count changes.
// Ownership: owns the names. Threads: immutable after parse().
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perfdata/format.h"

namespace jtrace::perfdata {

enum class ValueKind : std::uint8_t {
  kLong,  // type J, scalar: 8 bytes in the region's byte order
  kText,  // type B, vector, unit String: bytes up to a NUL or the vector's end
  kRaw,   // a type that HotSpot does not write today: its bytes unchanged
};

struct Counter {
  std::string_view name;  // belongs to the Layout
  ValueKind kind = ValueKind::kRaw;
  char type = 0;  // JVM signature character
  std::uint8_t flags = 0;
  std::uint8_t units = 0;        // as declared (metadata.h has the correct unit)
  std::uint8_t variability = 0;  // Variability
  std::uint32_t entry_offset = 0;
  std::uint32_t entry_length = 0;
  std::uint32_t vector_length = 0;  // 0: scalar
  std::uint32_t value_offset = 0;   // from the region's (or file's) first byte
  std::uint32_t value_size = 0;     // bytes

  bool supported() const { return (flags & kFlagSupported) != 0; }
};

struct ParseOptions {
  bool partial = false;  // return the valid part of a truncated or corrupt region instead of an error
};

class Layout {
 public:
  // Errors (kMalformed): shorter than a prologue, no magic, another major version, corrupt prologue, truncated, corrupt
  // entry. An entry that is not filled in yet ends the walk without an error: complete() is false then.
  static Result<Layout> parse(std::span<const std::byte> bytes, const ParseOptions& options = {});

  Layout(Layout&&) = default;
  Layout& operator=(Layout&&) = default;
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  // Of the bytes that were parsed; for another copy it may be outdated (see Snapshot::prologue).
  const Prologue& prologue() const { return prologue_; }
  const std::vector<Counter>& counters() const { return counters_; }
  // True if `bytes` have the same entries at the same places (values aside): then this is their layout too. Only a
  // complete layout without warnings describes other bytes.
  bool describes(std::span<const std::byte> bytes) const;
  // Linear: views look their names up once per layout. Of duplicates the last, as in the JDK's reader.
  const Counter* find(std::string_view name) const;

  bool complete() const { return incomplete_.empty(); }
  const std::string& incomplete_reason() const { return incomplete_; }  // "" when complete
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class LayoutParser;
  Layout() = default;

  Prologue prologue_;
  std::unique_ptr<char[]> names_;  // the views in counters_ point into it
  std::vector<Counter> counters_;
  std::string incomplete_;
  std::vector<std::string> warnings_;
};

// Reads the prologue alone: size, magic, byte order, version and entry_offset are checked; `used` is not compared with
// the size.
Result<Prologue> parse_prologue(std::span<const std::byte> bytes);

// Names that occur more than once, sorted.
std::vector<std::string_view> duplicate_names(const Layout& layout);

}  // namespace jtrace::perfdata
