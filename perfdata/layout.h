// Layout: which counters an hsperfdata region holds and where the value of each stands.
//
// Parsed from a private copy of the region's bytes (file, process memory, core, saved file, either byte order). The
// bytes may be hostile: every offset is checked, nothing is quadratic, at most kMaxRegionSize bytes are looked at.
// Entries are never moved or removed by HotSpot, so a Layout stays true for a region until its prologue's used or
// entry_count change. Ownership: owns the names. Threads: immutable after parse().
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
  kRaw,   // anything HotSpot does not write today: its bytes as they are
};

struct Counter {
  std::string_view name;  // belongs to the Layout
  ValueKind kind = ValueKind::kRaw;
  char type = 0;  // JVM signature character
  std::uint8_t flags = 0;
  std::uint8_t units = 0;        // as declared (see metadata.h for the true unit)
  std::uint8_t variability = 0;  // Variability
  std::uint32_t entry_offset = 0;
  std::uint32_t entry_length = 0;
  std::uint32_t vector_length = 0;  // 0: scalar
  std::uint32_t value_offset = 0;   // from the region's (or file's) first byte
  std::uint32_t value_size = 0;     // bytes

  bool supported() const { return (flags & kFlagSupported) != 0; }
};

struct ParseOptions {
  bool partial = false;  // give what is whole of a truncated or corrupt region instead of an error
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

  // Of the bytes it was parsed from; what it says of another copy may be old (see Snapshot::prologue).
  const Prologue& prologue() const { return prologue_; }
  const std::vector<Counter>& counters() const { return counters_; }
  // True when `bytes` hold the very same entries at the same places (the values aside): then this is their layout too.
  // Only a complete layout without warnings describes other bytes.
  bool describes(std::span<const std::byte> bytes) const;
  // Linear: views look their names up once a layout. Of duplicates the last, as the JDK's reader has it.
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

// The prologue alone: size, magic, byte order, version and entry_offset are checked; `used` is not held against the
// size.
Result<Prologue> parse_prologue(std::span<const std::byte> bytes);

// Names that stand more than once, sorted.
std::vector<std::string_view> duplicate_names(const Layout& layout);

}  // namespace jtrace::perfdata
