// Snapshot: one copy of a region's bytes with its layout; RegionReader: takes snapshots of one region, any number of
// times.
//
// HotSpot writes values without lock or generation: a copy can catch a collection half-way (invocations raised, time
// not yet). read_stable copies until two copies in a row are equal; read_once copies once. Ownership: a Snapshot owns
// its bytes and shares the layout. Threads: a RegionReader belongs to one thread at a time; a Snapshot is a value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perfdata/layout.h"
#include "perfdata/layout_cache.h"
#include "target/memory_reader.h"

namespace jtrace::perfdata {

class Snapshot {
 public:
  Snapshot() = default;
  // `bytes` are those `layout` was parsed from, or a later copy of the same region at least as long.
  Snapshot(std::vector<std::byte> bytes, std::shared_ptr<const Layout> layout)
      : bytes_(std::move(bytes)), layout_(std::move(layout)), prologue_(layout_->prologue()) {}

  const Layout& layout() const { return *layout_; }
  const Prologue& prologue() const { return prologue_; }  // of these bytes
  const std::shared_ptr<const Layout>& shared_layout() const { return layout_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  std::int64_t long_value(const Counter& counter) const;      // of a kLong; 0 for other kinds
  std::string_view text_value(const Counter& counter) const;  // of a kText, as the JVM wrote it; "" for other kinds
  std::span<const std::byte> raw_value(const Counter& counter) const;
  // By name; nothing if there is no such counter or it is of another kind.
  std::optional<std::int64_t> long_value(std::string_view name) const;
  std::optional<std::string_view> text_value(std::string_view name) const;

  // The reader's clocks around the copy that was kept (ns): a region carries no "now" of its own.
  std::uint64_t realtime_ns = 0;   // CLOCK_REALTIME before the read
  std::uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC before the read
  std::uint64_t read_ns = 0;       // how long the read took
  bool stable = false;             // two copies in a row were equal
  std::size_t capacity = 0;        // bytes of the whole region (the file's size), at least what is used; 0: unknown

 private:
  friend class RegionReader;
  std::vector<std::byte> bytes_;
  std::shared_ptr<const Layout> layout_;
  Prologue prologue_;
};

class RegionReader {
 public:
  // `memory` must outlive the reader; `base` is the address of the prologue (0 for a file).
  // `capacity`: size of the whole region where it is known.
  RegionReader(const target::MemoryReader& memory, target::Address base, ParseOptions options = {},
               std::size_t capacity = 0)
      : memory_(&memory), base_(base), options_(options), capacity_(capacity) {}

  // Takes layouts out of `cache` and puts them there, for who reads many regions.
  void share_layouts(std::shared_ptr<LayoutCache> cache) { cache_ = std::move(cache); }

  // One copy into `into`, whose buffer is used again. The layout is parsed anew only when the prologue says that there
  // are other entries. Errors: as Layout::parse, and those of the memory.
  Result<> read_once(Snapshot& into);
  // Copies until two copies in a row are equal, at most `attempts` pairs; `into.stable` says whether that was reached.
  Result<> read_stable(Snapshot& into, int attempts);
  Result<> read_stable(Snapshot& into) { return read_stable(into, 4); }

 private:
  Result<> copy_region(std::vector<std::byte>& into);
  Result<> parse_into(Snapshot& into);

  const target::MemoryReader* memory_;
  target::Address base_;
  ParseOptions options_;
  std::size_t capacity_;
  std::shared_ptr<const Layout> layout_;
  std::shared_ptr<LayoutCache> cache_;
  std::size_t size_hint_ = 0;
};

// One stable snapshot of the region at `base`.
Result<Snapshot> read_snapshot(const target::MemoryReader& memory, target::Address base,
                               const ParseOptions& options = {});

}  // namespace jtrace::perfdata
