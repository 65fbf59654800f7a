// NamedPage: the metrics of this machine's JVMs by a convention's names (named_metrics.h), with the durations of the
// pauses that were seen since the page was made. Threads: one at a time.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "perfdata/gc_durations.h"
#include "perfdata/jvm_set.h"
#include "perfdata/named_metrics.h"

namespace jtrace::perfdata {

struct NamedPageOptions {
  Naming naming = Naming::kOtel;
  InnerReader inner = {};     // none: what only the JVMs' own structures tell is left out
  std::set<pid_t> only = {};  // none: all JVMs
};

class NamedPage {
 public:
  // Of two pauses of one collector between two looks one is missed.
  static constexpr std::chrono::milliseconds kInterval{200};

  // `report`, `refusal`: as of JvmSet; `refusal` also of a JVM whose own structures cannot be read.
  NamedPage(NamedPageOptions options, const SourceOptions& sources, JvmSet::Say report, JvmSet::Say refusal);

  // To be called every kInterval: looks for pauses where the naming has them, and now and then for JVMs.
  void look();
  // The JVMs now; valid until the next call.
  const std::vector<NamedJvm>& jvms();
  // JVMs whose counters cannot be read, with the reason.
  const std::map<pid_t, std::string>& refused() const { return jvms_.refused(); }
  std::string text(MetricsFormat format);

 private:
  void read();
  void report_problems(const std::vector<std::uint64_t>& numbers);

  NamedPageOptions options_;
  JvmSet::Say refusal_;
  JvmSet jvms_;
  std::vector<NamedJvm> named_;
  std::map<std::uint64_t, GcDurations> durations_;  // by LiveJvm::number
  std::map<std::uint64_t, std::string> said_;       // of InnerFigures::problem, likewise
  std::uint64_t next_search_ = 0;                   // CLOCK_MONOTONIC
};

// One JVM by its counters and the kernel.
NamedJvm named_jvm(pid_t pid, const Snapshot& snapshot);
// Sets NamedJvm::inner; numbers[i] is that of jvms[i]. Without a reader: nothing.
void read_inner(const InnerReader& reader, std::vector<NamedJvm>& jvms, const std::vector<std::uint64_t>& numbers);
// Of threads that came or went between the counters and the memory, the counters after both may have the number.
void match_threads(NamedJvm& jvm, CounterSource& source);
// A line that says why it could not be read; "" if it could, or if there was no reader.
std::string inner_problem(const NamedJvm& jvm);

}  // namespace jtrace::perfdata
