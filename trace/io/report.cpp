#include "trace/io/report.h"

#include <algorithm>
#include <cmath>

#include "trace/io/report_page.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kMaxBars = 1'000'000;  // of all lanes
constexpr std::size_t kMaxBarsOfLane = 4096;
constexpr std::size_t kMaxLosses = 1024;  // of a lane

void add(LaneBar& bar, ThreadState state, std::uint64_t ns) {
  if (state == ThreadState::kBlocked) bar.blocked += ns;
  else if (state == ThreadState::kWaiting) bar.waiting += ns;
  else if (state == ThreadState::kSleeping) bar.sleeping += ns;
}

}  // namespace

// Merges neighbours by pairs. Merging the nearest first would be better, but this is enough.
void Lane::thin_out(std::size_t limit) {
  while (bars.size() > std::max<std::size_t>(limit, 1)) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < bars.size(); i += 2) {
      LaneBar bar = bars[i];
      if (i + 1 < bars.size()) {
        const LaneBar& next = bars[i + 1];
        bar.end = std::max(bar.end, next.end);
        bar.blocked += next.blocked;
        bar.waiting += next.waiting;
        bar.sleeping += next.sleeping;
      }
      bars[out++] = bar;
    }
    bars.resize(out);
  }
}

void Lane::join_losses(std::size_t limit) {
  std::sort(lost.begin(), lost.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  const auto join = [this](std::uint64_t distance) {
    std::size_t out = 0;
    for (std::size_t i = 1; i < lost.size(); ++i) {
      if (lost[i].from <= lost[out].to || lost[i].from - lost[out].to <= distance)
        lost[out].to = std::max(lost[out].to, lost[i].to);
      else lost[++out] = lost[i];
    }
    if (!lost.empty()) lost.resize(out + 1);
  };
  join(0);
  while (lost.size() > std::max<std::size_t>(limit, 1)) {
    std::vector<std::uint64_t> distances;
    for (std::size_t i = 1; i < lost.size(); ++i) distances.push_back(lost[i].from - lost[i - 1].to);
    const auto enough =
        distances.begin() + static_cast<std::ptrdiff_t>(lost.size() - std::max<std::size_t>(limit, 1) - 1);
    std::nth_element(distances.begin(), enough, distances.end());
    join(*enough);
  }
}

ReportCollector::OfScope& ReportCollector::of(const Scope& scope) {
  if (of_scope_.size() <= scope.index) of_scope_.resize(scope.index + 1);
  if (!of_scope_[scope.index]) of_scope_[scope.index] = std::make_unique<OfScope>();
  return *of_scope_[scope.index];
}

const std::map<std::uint64_t, Lane>* ReportCollector::lanes(const ScopeStatistics& statistics) const {
  const std::size_t index = statistics.scope->index;
  return index < of_scope_.size() && of_scope_[index] ? &of_scope_[index]->lanes : nullptr;
}
const CallTree* ReportCollector::tree(const ScopeStatistics& statistics) const {
  const std::size_t index = statistics.scope->index;
  return index < of_scope_.size() && of_scope_[index] ? &of_scope_[index]->tree : nullptr;
}

const ScopeStatistics* ReportCollector::with_frames(std::string_view process_id) const {
  const auto has_frames = [this](const ScopeStatistics& each) {
    const CallTree* frames = tree(each);
    return frames != nullptr && frames->nodes.size() >= 2;
  };
  for (const Family family : {Family::kCalls, Family::kAllocations})
    if (const ScopeStatistics* best = chosen(process_id, family); best != nullptr && has_frames(*best)) return best;
  const ScopeStatistics* best = nullptr;
  for (const ScopeStatistics& each : by_scope()) {
    if (each.scope == nullptr || !each.scope->snapshot || each.scope->process_id != process_id) continue;
    const bool is_more =
        best == nullptr || each.count(ElementKind::kMethodEntry) > best->count(ElementKind::kMethodEntry);
    if (is_more && has_frames(each)) best = &each;
  }
  return best;
}

Lane& ReportCollector::lane_of(const Scope& scope, std::uint64_t thread) {
  const auto [at, fresh] = of(scope).lanes.try_emplace(thread);
  lane_count_ += fresh;
  return at->second;
}

void ReportCollector::on_state(const ScopeStatistics& statistics, std::uint64_t thread, ThreadState state,
                               std::uint64_t since, std::uint64_t until) {
  Lane& lane = lane_of(*statistics.scope, thread);
  LaneBar bar{.start = since, .end = until};
  add(bar, state, until - since);
  lane.bars.push_back(bar);
  const std::size_t limit = std::clamp<std::size_t>(kMaxBars / lane_count_, 64, kMaxBarsOfLane);
  if (lane.bars.size() > limit) lane.thin_out(limit / 2);
}

// Where it is not known when events were lost, the sections say it (report.js).
void ReportCollector::on_gap(Scope& scope, const Gap& gap) {
  Statistics::on_gap(scope, gap);
  if (gap.from == 0) return;
  Lane& lane = lane_of(scope, gap.thread);
  lane.lost.push_back({gap.from, gap.to == 0 ? kNoEnd : std::max(gap.from, gap.to)});
  if (lane.lost.size() > kMaxLosses) lane.join_losses(kMaxLosses / 2);
}

void ReportCollector::on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) {
  Statistics::on_enter(scope, thread, stack);
  OfScope& mine = of(scope);
  const std::uint32_t parent = stack.size() > 1 ? stack[stack.size() - 2].node : mine.tree.base(0, stack.back().cut);
  stack.back().node = mine.tree.enter(parent, mine.tree.name_of(scope, stack.back().method));
  mine.tops[thread] = stack.back().node;
}

void ReportCollector::on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                               std::uint64_t cpu_time) {
  const OpenFrame frame = stack.back();  // user: the time of its callees, until Statistics adds it to the caller's
  OfScope& mine = of(scope);
  CallTree::Node& node = mine.tree.nodes[frame.node];
  const std::uint64_t wall = time - frame.time;
  ++node.calls;
  node.wall += wall - std::min(wall, frame.user);
  if (cpu_time > frame.cpu_time) {
    const std::uint64_t cpu = cpu_time - frame.cpu_time;
    node.cpu += cpu - std::min(cpu, frame.user_cpu);
    if (stack.size() > 1) stack[stack.size() - 2].user_cpu += cpu;
  }
  mine.tops[thread] = stack.size() > 1 ? stack[stack.size() - 2].node : 0;
  Statistics::on_leave(scope, thread, stack, time, cpu_time);
}

// The stack in the element (contextData, innermost first), otherwise the open calls.
void ReportCollector::allocate(Scope& scope, const ObjAlloc& alloc) {
  OfScope& mine = of(scope);
  std::uint32_t node = 0;
  if (alloc.contextData.present() && !alloc.contextData.view().empty()) {
    node = mine.tree.descend(node, alloc.contextData.view());
  } else if (alloc.threadIdRef.present()) {
    if (const auto top = mine.tops.find(alloc.threadIdRef.value()); top != mine.tops.end()) node = top->second;
  }
  if (alloc.classIdRef.present() || alloc.isArray.present())
    node = mine.tree.child(node, mine.tree.name_of(allocated_type(scope, alloc.isArray, alloc.classIdRef)));
  mine.tree.nodes[node].bytes += static_cast<std::uint64_t>(std::llround(allocation_weight(scope, alloc).bytes));
}

// Each stack of a completed snapshot becomes one sample.
void ReportCollector::sample(const ScopeStatistics& statistics) {
  OfScope& mine = of(*statistics.scope);
  for (const auto& [id, thread] : statistics.stacks) {
    if (thread.frames.empty()) continue;
    std::uint32_t node = thread.cut ? mine.tree.child(0, mine.tree.name_of("[cut stack]")) : 0;
    for (const std::uint64_t method : thread.frames)
      node = mine.tree.enter(node, mine.tree.name_of(*statistics.scope, method));
    ++mine.tree.nodes[node].samples;
  }
}

void ReportCollector::on_event(const Event& event, ScopeStatistics& statistics) {
  first_states_.note(event, *statistics.scope);
  if (const auto* alloc = std::get_if<ObjAlloc>(&event)) allocate(*statistics.scope, *alloc);
  const auto* end = std::get_if<TraceEnd>(&event);
  if (end == nullptr) return;
  if (statistics.scope->snapshot) sample(statistics);
  if (!end->time.present()) return;
  for (auto& [thread, lane] : of(*statistics.scope).lanes)
    for (LaneLoss& loss : lane.lost)
      if (loss.to == kNoEnd) loss.to = std::max(loss.from, end->time.ns());
}

Result<> ReportCollector::finish() {
  first_states_.finish();
  return Statistics::finish();
}

std::unique_ptr<ReportCollector> make_report_collector() { return std::make_unique<ReportCollector>(); }

Result<> ReportCollector::write(ByteSink& bytes, const ReportOptions& options) const {
  const std::string_view page = report_page();
  const std::size_t at = page.find(kReportDataMark);
  std::string json;
  for (std::size_t scale = 1; scale <= 256; scale *= 2) {
    json = report_json(*this, options, scale);
    if (json.size() + page.size() <= kMaxPage) break;
  }
  JTRACE_RETURN_IF_ERROR(bytes.write(page.substr(0, at)));
  JTRACE_RETURN_IF_ERROR(bytes.write(json));
  return bytes.write(page.substr(at + kReportDataMark.size()));
}

}  // namespace jtrace::trace::io
