// ProbeSummary: the number of hits of each probe, and the durations of what pairs of probes begin and end:
// X__begin/X__end, X__entry/X__return, contended__enter/entered, wait/waited, per thread. Counts come from the kernel,
// durations from the records. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "dtrace/probe_source.h"

namespace jtrace::dtrace {

class ProbeSummary {
 public:
  explicit ProbeSummary(const std::vector<TracedSite>& sites);
  void add(const ProbeRecord& record);
  void forget_after_loss() { open_.clear(); }
  // Two tables: hits by probe; durations with a histogram by powers of ten.
  std::string text(const std::vector<SiteCounters>& counters) const;

 private:
  static constexpr std::size_t kDecades = 8;  // below 1 us, 10 us, ... 1 s, 10 s, and above
  struct Pair {
    std::string name;
    std::uint64_t count = 0, total = 0, longest = 0;  // ns
    std::array<std::uint64_t, kDecades + 1> histogram{};
  };
  struct Role {
    std::size_t pair = SIZE_MAX;
    bool begins = false;
  };

  const std::vector<TracedSite>& sites_;
  std::vector<Role> roles_;  // by site
  std::vector<Pair> pairs_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> open_;  // thread and pair -> begin
};

}  // namespace jtrace::dtrace
