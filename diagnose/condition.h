// Condition: what `jtrace diagnose --watch --when` waits for, tested at intervals by reading a few files.
//
//   rss > 1500M          resident memory of the process
//   group > 90%          use of the lowest memory limit of its control group, without page cache that can be reclaimed
//   anything else        an expression over the JVM's counters, as for `hsperf check`
//
// Nothing is stopped and nothing is asked of the JVM. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "perfdata/counter_source.h"
#include "perfdata/watch.h"
#include "target/process.h"

namespace jtrace::diagnose {

// A limit of the kernel's figures: parsed by threshold_of(). A share if it ends in %.
struct Threshold {
  enum class What { kRss, kGroup } what = What::kRss;
  std::uint64_t bytes = 0;  // rss
  double share = 0;         // group; 0 to 1
};
// Nothing if the text is not about one of them. Errors: kUsage.
Result<std::optional<Threshold>> threshold_of(std::string_view text);

class Condition {
 public:
  // Errors: kUsage (not a condition); those of opening the counters.
  static Result<Condition> open(pid_t pid, const std::string& text);
  // Why it holds ("rss > 1500M: 1621 MiB"); nothing if it does not. Errors: what it needs cannot be read.
  Result<std::optional<std::string>> holds();

 private:
  Condition(target::Process process, std::string text) : process_(std::move(process)), text_(std::move(text)) {}
  Result<std::optional<std::string>> rss_holds() const;
  Result<std::optional<std::string>> group_holds() const;
  Result<std::optional<std::string>> counters_hold();

  target::Process process_;
  std::string text_;
  std::optional<Threshold> threshold_;
  std::optional<perfdata::CounterSource> source_;
  std::optional<perfdata::Watch> watch_;
  perfdata::Snapshot before_, now_;
  int looks_ = 0;
};

}  // namespace jtrace::diagnose
