#include "session/document/short_contentions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trace/option_keys.h"

namespace jtrace::session {

namespace record = trace::record;
using record::MonitorRecord;
using record::RecordKind;

namespace {

constexpr std::size_t kMostClasses = 1000;  // that are counted apart
constexpr std::size_t kMostWritten = 20;    // ... and have an option of their own

void add(trace::ShortContentions& sum, const trace::ShortContentions& more) {
  sum.count += more.count;
  sum.total += more.total;
}

}  // namespace

ShortContentions::Held* ShortContentions::open_of(std::uint64_t thread) {
  const auto found = open_.find(thread);
  return found == open_.end() ? nullptr : &held_[found->second - first_];
}

void ShortContentions::keep_open_of(std::uint64_t thread) {
  if (Held* begin = open_of(thread)) begin->is_open = false;
  open_.erase(thread);
}

void ShortContentions::keep_all_open() {
  for (const auto& each : open_) held_[each.second - first_].is_open = false;
  open_.clear();
}

void ShortContentions::take(const TimedRecord& taken) {
  const RecordKind kind = taken.header().kind;
  if (kind == RecordKind::kMonContendedEntered && is_end_of_short(taken)) return;
  if (kind == RecordKind::kGap) {
    const std::uint64_t thread = taken.as<record::GapRecord>().thread;
    thread == 0 ? keep_all_open() : keep_open_of(thread);
  }
  const bool begins = kind == RecordKind::kMonContendedEnter;
  if (begins) {
    const std::uint64_t thread = taken.as<MonitorRecord>().thread;
    definitions_.note_acted(thread);  // what it did before it began is over
    keep_open_of(thread);             // its end is missing
    open_[thread] = first_ + held_.size();
  }
  held_.push_back({taken, begins});
}

bool ShortContentions::is_end_of_short(const TimedRecord& taken) {
  const auto& end = taken.as<MonitorRecord>();
  Held* held = open_of(end.thread);
  if (held == nullptr) return false;
  const auto& begin = held->record.as<MonitorRecord>();
  const std::uint64_t ns = end.header.time - std::min(begin.header.time, end.header.time);
  held->is_left_out = begin.object == end.object && ns < options_.min_contention;
  if (held->is_left_out) count(begin, ns);
  const bool is_short = held->is_left_out;
  keep_open_of(end.thread);
  return is_short;
}

std::optional<TimedRecord> ShortContentions::next(std::uint64_t time) {
  while (!held_.empty()) {
    const Held& first = held_.front();
    const std::uint64_t began = first.record.header().time;
    if (first.is_open && time - std::min(began, time) < options_.min_contention && held_.size() < kHoldLimit) return {};
    if (first.is_open) open_.erase(first.record.as<MonitorRecord>().thread);
    const bool is_left_out = first.is_left_out;
    const TimedRecord next = first.record;
    held_.pop_front();
    ++first_;
    if (!is_left_out) return next;
  }
  return {};
}

void ShortContentions::count(const MonitorRecord& enter, std::uint64_t ns) {
  const std::string_view name = definitions_.class_name_of_object(enter.object);
  auto found = short_.find(name);
  if (found == short_.end()) found = short_.try_emplace(short_.size() < kMostClasses ? std::string(name) : "").first;
  add(found->second, {1, ns});
}

Result<> ShortContentions::write_counts() {
  std::vector<trace::ShortContentions> sums;
  for (auto& [name, sum] : std::exchange(short_, {})) sums.push_back({sum.count, sum.total, name});
  std::stable_sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.total > b.total; });
  if (sums.size() > kMostWritten) {
    trace::ShortContentions rest;
    for (std::size_t i = kMostWritten; i < sums.size(); ++i) add(rest, sums[i]);
    sums.resize(kMostWritten);
    sums.push_back(rest);
  }
  for (const trace::ShortContentions& sum : sums)
    JTRACE_RETURN_IF_ERROR(
        emitter_.emit(trace::Option{.key = trace::kShortContentionsKey, .value = trace::short_contentions_text(sum)}));
  return {};
}

}  // namespace jtrace::session
