#include "sampling/profile_writers.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>

#include "base/json.h"
#include "sampling/own_methods.h"
#include "trace/io/flame_svg.h"

namespace jtrace::sampling {
namespace {

// The share of all samples, and how many they are: from a few samples a share says little.
std::string amount(std::uint64_t part, std::uint64_t all) {
  char text[48];
  std::snprintf(text, sizeof text, "%6.1f %% %8llu  ",
                all == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all),
                static_cast<unsigned long long>(part));
  return text;
}

struct Rows {
  std::vector<FrameRow> shown;
  std::size_t more = 0;
  std::uint64_t self_of_more = 0, greatest_of_more = 0;  // the latter of what they are sorted by
};

constexpr std::size_t kFirst = 5;  // are shown however little they have

// By `first`, then by `second`.
Rows greatest(std::vector<FrameRow> all, const TableLimits& limits, std::uint64_t samples,
              std::uint64_t FrameRow::*first, std::uint64_t FrameRow::*second) {
  Rows rows{.shown = std::move(all)};
  std::stable_sort(rows.shown.begin(), rows.shown.end(), [&](const FrameRow& a, const FrameRow& b) {
    return std::pair(a.*first, a.*second) > std::pair(b.*first, b.*second);
  });
  const double least = limits.least_share * static_cast<double>(samples);
  const auto is_shown = [&](const FrameRow& row, std::size_t count) {
    return count <= limits.rows && ((count <= kFirst && row.*first > 0) || static_cast<double>(row.*first) >= least);
  };
  for (; !rows.shown.empty() && !is_shown(rows.shown.back(), rows.shown.size()); rows.shown.pop_back()) {
    ++rows.more;
    rows.self_of_more += rows.shown.back().self;
    rows.greatest_of_more = rows.shown.back().*first;
  }
  return rows;
}

// "(12 more)\n", and if all are small, how small.
std::string more_of(const Rows& rows, const TableLimits& limits, std::uint64_t samples) {
  const double least = limits.least_share * static_cast<double>(samples);
  const bool is_small = least > 0 && static_cast<double>(rows.greatest_of_more) < least;
  char share[48] = "";
  if (is_small) std::snprintf(share, sizeof share, ", each below %g %%", limits.least_share * 100);
  return "(" + std::to_string(rows.more) + " more" + share + ")\n";
}

// A line of each row, and one of those that are not shown.
std::string table_of(const ProfileCounts& counts, const Rows& rows, const TableLimits& limits, bool with_total) {
  const std::uint64_t all = counts.total().samples;
  std::string text;
  for (const FrameRow& row : rows.shown)
    text += amount(row.self, all) + (with_total ? amount(row.total, all) : "") + counts.names()[row.name] + "\n";
  if (rows.more > 0)
    text += amount(rows.self_of_more, all) + (with_total ? std::string(19, ' ') : "") + more_of(rows, limits, all);
  return text;
}

// Java methods with all that they called; of what is not shown no sum is made: one sample is in many rows.
std::string totals_of(const ProfileCounts& counts, const std::vector<FrameRow>& frames, const TableLimits& limits) {
  std::vector<FrameRow> methods;
  std::copy_if(frames.begin(), frames.end(), std::back_inserter(methods),
               [&](const FrameRow& row) { return counts.kinds()[row.name] == ProfileCounts::Kind::kJava; });
  if (methods.empty()) return "";
  const std::uint64_t all = counts.total().samples;
  const Rows rows = greatest(std::move(methods), limits, all, &FrameRow::total, &FrameRow::self);
  std::string text = "\n   total  samples  method, with all that it called\n";
  for (const FrameRow& row : rows.shown) text += amount(row.total, all) + counts.names()[row.name] + "\n";
  if (rows.more > 0) text += std::string(19, ' ') + more_of(rows, limits, all);
  return text;
}

// Each with the callers that brought most of its samples.
std::string own_methods_of(const ProfileCounts& counts, const TableLimits& limits) {
  constexpr std::size_t kCallers = 3;
  const std::uint64_t all = counts.total().samples;
  const auto is_small = [&](std::uint64_t samples) {
    return static_cast<double>(samples) < limits.least_share * static_cast<double>(all);
  };
  std::string text;
  std::size_t rows = 0;
  for (const OwnMethod& method : own_methods(counts)) {
    if (++rows > limits.rows || is_small(method.samples)) break;
    text += amount(method.samples, all) + counts.names()[method.name] + "\n";
    for (std::size_t i = 0; i < std::min(method.callers.size(), kCallers); ++i)
      if (const OwnMethod::Caller& caller = method.callers[i]; !is_small(caller.samples))
        text += amount(caller.samples, all) + "    from " + counts.names()[caller.name] + "\n";
  }
  return text.empty()
             ? ""
             : "\n   share  samples  method of the program, with what it called of the JDK; from where\n" + text;
}

// Samples of each name.
std::string shares_of(const ProfileCounts& counts, const std::map<std::uint32_t, std::uint64_t>& samples,
                      const TableLimits& limits) {
  std::vector<FrameRow> all;
  for (const auto& [name, count] : samples) all.push_back({.name = name, .self = count});
  const Rows rows = greatest(std::move(all), limits, counts.total().samples, &FrameRow::self, &FrameRow::total);
  return table_of(counts, rows, limits, false);
}

// What a sample counts as: itself for CPU time; ns for waits, which are of any length.
std::uint64_t value_of(const ProfileCounts& counts, const ProfileCounts::Count& count) {
  return counts.shape().waits ? count.weight : count.samples;
}

std::string name_of_thread(const ProfileCounts& counts, const ProfileCounts::Stack& stack) {
  const std::string& thread = counts.names()[stack[counts.thread_at()]];
  return counts.shape().processes ? counts.names()[stack[0]] + " / " + thread : thread;
}

void put_profile(JsonWriter& json, const std::string& name, std::size_t first,
                 const std::vector<const std::pair<const ProfileCounts::Stack, ProfileCounts::Count>*>& stacks) {
  std::uint64_t sum = 0;
  json.begin_object().member("type", "sampled").member("name", name).member("unit", "nanoseconds");
  json.key("samples").begin_array();
  for (const auto* stack : stacks) {
    json.begin_array();
    for (std::size_t i = first; i < stack->first.size(); ++i) json.value(stack->first[i]);
    json.end_array();
    sum += stack->second.weight;
  }
  json.end_array().key("weights").begin_array();
  for (const auto* stack : stacks) json.value(stack->second.weight);
  json.end_array().member("startValue", 0).member("endValue", sum).end_object();
}

}  // namespace

std::string collapsed_text(const ProfileCounts& counts) {
  std::vector<std::string> lines;
  for (const auto& [stack, count] : counts.stacks()) {
    std::string line;
    for (const std::uint32_t name : stack) line += (line.empty() ? "" : ";") + counts.names()[name];
    lines.push_back(line + " " + std::to_string(value_of(counts, count)) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::string profile_svg(const ProfileCounts& counts, const ProfileHead& head) {
  trace::io::StackProfile profile{.unit = counts.shape().waits ? "ns" : "samples", .stacks = {}};
  for (const auto& [stack, count] : counts.stacks()) {
    std::string frames;
    for (std::size_t i = counts.shape().processes ? 0 : counts.thread_at() + 1; i < stack.size(); ++i)
      frames += (frames.empty() ? "" : ";") + counts.names()[stack[i]];
    profile.stacks[frames] += static_cast<double>(value_of(counts, count));
  }
  const std::string lost =
      head.lost == 0 ? "" : "; " + counted(head.lost, "sample") + " " + was_were(head.lost) + " lost";
  return trace::io::flame_svg(profile, head.title, head.how + lost);
}

std::string speedscope_json(const ProfileCounts& counts, const ProfileHead& head) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().member("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.member("exporter", std::string("jtrace ") + JTRACE_VERSION).member("name", head.title);
  json.key("shared").begin_object().key("frames").begin_array();
  for (const std::string& name : counts.names()) json.begin_object().member("name", name).end_object();
  json.end_array().end_object().key("profiles").begin_array();
  const std::size_t first = counts.thread_at() + 1;
  std::map<ProfileCounts::Stack, std::vector<const std::pair<const ProfileCounts::Stack, ProfileCounts::Count>*>>
      threads;
  for (const auto& stack : counts.stacks())
    threads[ProfileCounts::Stack(stack.first.begin(), stack.first.begin() + static_cast<std::ptrdiff_t>(first))]
        .push_back(&stack);
  for (const auto& [thread, stacks] : threads) put_profile(json, name_of_thread(counts, thread), first, stacks);
  json.end_array().end_object();
  return text + "\n";
}

std::vector<FrameRow> frame_rows(const ProfileCounts& counts) {
  const std::size_t first = counts.thread_at() + 1;
  std::map<std::uint32_t, FrameRow> frames;
  for (const auto& [stack, count] : counts.stacks()) {
    if (stack.size() <= first) continue;
    frames[stack.back()].self += count.samples;
    for (const std::uint32_t frame :
         std::set<std::uint32_t>(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end()))
      frames[frame].total += count.samples;
  }
  std::vector<FrameRow> rows;
  for (auto& [name, row] : frames) rows.push_back({.name = name, .self = row.self, .total = row.total});
  return rows;
}

std::string profile_table(const ProfileCounts& counts, TableLimits limits) {
  if (counts.shape().waits) return waits_table(counts, limits.rows);
  std::map<std::uint32_t, std::uint64_t> threads, processes;
  for (const auto& [stack, count] : counts.stacks()) {
    threads[stack[counts.thread_at()]] += count.samples;
    if (counts.shape().processes) processes[stack[0]] += count.samples;
  }
  const std::vector<FrameRow> frames = frame_rows(counts);
  std::string text = "    self  samples     total  samples  frame\n";
  text += table_of(counts, greatest(frames, limits, counts.total().samples, &FrameRow::self, &FrameRow::total), limits,
                   true);
  text += own_methods_of(counts, limits) + totals_of(counts, frames, limits);
  text += "\n   share  samples  thread\n" + shares_of(counts, threads, limits);
  if (!processes.empty()) text += "\n   share  samples  process\n" + shares_of(counts, processes, limits);
  return text;
}

}  // namespace jtrace::sampling
