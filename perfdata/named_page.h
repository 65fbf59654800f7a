// NamedPage: the metrics of this machine's JVMs by a convention's names (named_metrics.h), with the durations of the
// pauses that were seen since the page was made. Threads: one at a time.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "perfdata/gc_durations.h"
#include "perfdata/jvm_set.h"
#include "perfdata/named_metrics.h"

namespace jtrace::perfdata {

class NamedPage {
 public:
  // Of two pauses of one collector between two looks one is missed.
  static constexpr std::chrono::milliseconds kInterval{200};

  NamedPage(Naming naming, const SourceOptions& options, std::function<void(const std::string&)> report)
      : naming_(naming), jvms_(options, std::move(report)) {}

  // To be called every kInterval: looks for pauses where the naming has them, and now and then for JVMs.
  void look();
  std::string text(MetricsFormat format);

 private:
  void read();

  Naming naming_;
  JvmSet jvms_;
  std::map<std::uint64_t, GcDurations> durations_;  // by LiveJvm::number
  std::uint64_t next_search_ = 0;                   // CLOCK_MONOTONIC
};

}  // namespace jtrace::perfdata
