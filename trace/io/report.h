// Report: a trace as one HTML page that needs no network: the contents of jtrace stats, a timeline for each thread, a
// flame graph, counters over time, the stacks of a snapshot. The page (trace/io/page) is built into the program. It
// contains the data as JSON, thinned out so that the page has less than kMaxPage bytes for any trace.
//
// Memory grows with threads, classes, methods and distinct call stacks (at most kMaxTreeNodes), not with events. One
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/byte_sink.h"
#include "trace/io/call_tree.h"
#include "trace/io/first_states.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {

inline constexpr std::size_t kMaxPage = 2'000'000;
inline constexpr std::size_t kMaxTreeNodes = 1'000'000;

// A part of a lane in which a thread did not run all the time; ns. Short parts that are close together are merged into
// one.
struct LaneBar {
  std::uint64_t start = 0, end = 0;
  std::uint64_t blocked = 0, waiting = 0, sleeping = 0;
};
// In which events of the thread were lost; ns.
struct LaneLoss {
  std::uint64_t from = 0, to = 0;
};
inline constexpr std::uint64_t kNoEnd = UINT64_MAX;  // of a loss: until the trace ends
struct Lane {
  std::vector<LaneBar> bars;
  std::vector<LaneLoss> lost;
  std::optional<FirstState> first;
  // Halves the number of bars until there are at most `limit`.
  void thin_out(std::size_t limit);
  // Sorts the losses, and joins those that overlap; then the nearest until there are at most `limit`: what is between
  // them counts as lost too.
  void join_losses(std::size_t limit);
};

struct ReportOptions {
  std::string title;
  std::map<std::string, std::uint64_t> faults = {};  // of the input
  bool truncated = false;
};

// Collects the contents of the page. finish() before write().
class ReportCollector final : public Statistics {
 public:
  Result<> finish() override;
  // Writes the whole page. The sink is not finished.
  Result<> write(ByteSink& bytes, const ReportOptions& options) const;
  using Statistics::write;

  // By threadId. 0 has what was lost of any thread, and nothing else.
  const std::map<std::uint64_t, Lane>* lanes(const ScopeStatistics& statistics) const;
  const CallTree* tree(const ScopeStatistics& statistics) const;
  // The producer of the process that recorded most calls, otherwise allocations, otherwise stacks in snapshots, of
  // which the last may have none. Null: there are no frames.
  const ScopeStatistics* with_frames(std::string_view process_id) const;

 private:
  void on_event(const Event& event, ScopeStatistics& statistics) override;
  void on_gap(Scope& scope, const Gap& gap) override;
  void on_state(const ScopeStatistics& statistics, std::uint64_t thread, ThreadState state, std::uint64_t since,
                std::uint64_t until) override;
  void on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) override;
  void on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                std::uint64_t cpu_time) override;
  void allocate(Scope& scope, const ObjAlloc& alloc);
  void sample(const ScopeStatistics& statistics);

  struct OfScope {
    std::map<std::uint64_t, Lane> lanes;
    CallTree tree{kMaxTreeNodes};
    std::unordered_map<std::uint64_t, std::uint32_t> tops;  // thread -> node of the innermost open call
  };
  OfScope& of(const Scope& scope);
  Lane& lane_of(const Scope& scope, std::uint64_t thread);

  std::vector<std::unique_ptr<OfScope>> of_scope_;
  std::size_t lane_count_ = 0;
  FirstStates first_states_{[this](const Scope& scope, std::uint64_t thread, const FirstState& state) {
    lane_of(scope, thread).first = state;
  }};
};

std::unique_ptr<ReportCollector> make_report_collector();

// The data of the page as JSON. `scale`: 1 is full detail, 2 half of it...
std::string report_json(const ReportCollector& report, const ReportOptions& options, std::size_t scale);

}  // namespace jtrace::trace::io
