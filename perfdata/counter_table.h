// CounterTable: the counters of a layout for views: sorted by name, filtered, with the correct unit and freshness, and
// with the six pseudo counters sun.perfdata.* that the JDK's tools make from the prologue.
//
// Built once for a layout and used for all snapshots that share it. Ownership: shares the layout. Threads: immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/metadata.h"
#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

// The counters that jdk.internal.jvmstat's PerfDataBuffer adds: sun.perfdata.majorVersion and so on.
enum class Pseudo : std::uint8_t { kNone, kMajor, kMinor, kOverflow, kSize, kTimestamp, kUsed };

struct Row {
  std::string_view name;
  const Counter* counter = nullptr;  // null for a pseudo counter
  Pseudo pseudo = Pseudo::kNone;
  bool secret = false;  // text that may contain passwords: masked unless asked for
  std::uint8_t units = 0;
  std::uint8_t variability = 0;
  std::uint8_t flags = 0;
  Metadata metadata;

  bool is_text() const { return metadata.quantity == Quantity::kText; }
};

using NameFilter = std::function<bool(std::string_view)>;

class CounterTable {
 public:
  // An empty filter accepts all.
  CounterTable(const Snapshot& snapshot, const NameFilter& filter, bool pseudo_counters = true);

  bool is_for(const Snapshot& snapshot) const { return snapshot.shared_layout() == layout_; }
  const std::vector<Row>& rows() const { return rows_; }
  const VmTraits& traits() const { return traits_; }

  std::int64_t long_value(const Snapshot& snapshot, const Row& row) const;
  // For a row that is text: UTF-8, secrets masked; bytes of an unknown type as hex digits.
  std::string text_value(const Snapshot& snapshot, const Row& row, bool show_secrets) const;

 private:
  std::shared_ptr<const Layout> layout_;
  VmTraits traits_;
  std::vector<Row> rows_;
};

}  // namespace jtrace::perfdata
