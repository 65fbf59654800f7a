// The columns of the JDK's jstat, byte for byte as JDK 25 prints them, for any region of JDK 8 to 27.
//
// Headings, widths, decimals and formulas: jdk.jcmd, sun/tools/jstat/resources/jstat_options of JDK 25; alignment and
// rounding: HeaderClosure, RowClosure, Alignment and java.text.DecimalFormat (HALF_EVEN of the exact binary value, as
// in printf). A missing value is "-", but counts as 0 in GCT. Pure, one view belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

// "class", "compiler", "gc", ... in jstat's order.
std::vector<std::string_view> jstat_options();

class JstatView {
 public:
  // Nothing if there is no such option. With `timestamp` the first column is the age of the JVM (jstat -t).
  static std::optional<JstatView> of(std::string_view option, bool timestamp);

  // Without newline.
  std::string header() const;
  // `wall_ms`: the reader's wall clock, for the timestamp.
  std::string row(const Snapshot& snapshot, std::int64_t wall_ms);
  // True if a column shows the used part of eden.
  bool shows_eden() const;

 private:
  explicit JstatView(std::vector<std::size_t> columns) : columns_(std::move(columns)) {}
  void resolve(const Snapshot& snapshot);

  std::vector<std::size_t> columns_;  // of the table in jstat.cpp
  std::shared_ptr<const Layout> layout_;
  std::vector<std::vector<const Counter*>> counters_;  // of each column, in the order of its formula
  const Counter* frequency_ = nullptr;
  const Counter* begin_ = nullptr;
};

}  // namespace jtrace::perfdata
