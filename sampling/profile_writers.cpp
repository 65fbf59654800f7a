#include "sampling/profile_writers.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/json.h"
#include "trace/io/flame_svg.h"

namespace jtrace::sampling {
namespace {

struct Row {
  std::uint64_t self = 0, total = 0;  // samples
};

// The share of all samples, and how many they are: from a few samples a share says little.
std::string amount(std::uint64_t part, std::uint64_t all) {
  char text[48];
  std::snprintf(text, sizeof text, "%6.1f %% %8llu  ",
                all == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all),
                static_cast<unsigned long long>(part));
  return text;
}

struct Rows {
  std::vector<std::pair<std::uint32_t, Row>> shown;
  std::size_t more = 0;
  std::uint64_t self_of_more = 0;
};

Rows greatest(const std::map<std::uint32_t, Row>& all, std::size_t limit) {
  Rows rows{.shown = {all.begin(), all.end()}};
  std::stable_sort(rows.shown.begin(), rows.shown.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.self, a.second.total) > std::pair(b.second.self, b.second.total);
  });
  for (; rows.shown.size() > limit; rows.shown.pop_back()) {
    ++rows.more;
    rows.self_of_more += rows.shown.back().second.self;
  }
  return rows;
}

// A line of each row, and one of those that are not shown.
std::string table_of(const ProfileCounts& counts, const Rows& rows, bool with_total) {
  const std::uint64_t all = counts.total().samples;
  std::string text;
  for (const auto& [name, row] : rows.shown)
    text += amount(row.self, all) + (with_total ? amount(row.total, all) : "") + counts.names()[name] + "\n";
  if (rows.more > 0)
    text += amount(rows.self_of_more, all) + (with_total ? std::string(19, ' ') : "") + "(" +
            std::to_string(rows.more) + " more)\n";
  return text;
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
    for (const std::uint32_t name : stack) frames += (frames.empty() ? "" : ";") + counts.names()[name];
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

std::string profile_table(const ProfileCounts& counts, std::size_t limit) {
  if (counts.shape().waits) return waits_table(counts, limit);
  const std::size_t first = counts.thread_at() + 1;
  std::map<std::uint32_t, Row> frames, threads, processes;
  for (const auto& [stack, count] : counts.stacks()) {
    threads[stack[first - 1]].self += count.samples;
    if (counts.shape().processes) processes[stack[0]].self += count.samples;
    if (stack.size() <= first) continue;
    frames[stack.back()].self += count.samples;
    for (const std::uint32_t frame :
         std::set<std::uint32_t>(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end()))
      frames[frame].total += count.samples;
  }
  std::string text = "    self  samples     total  samples  frame\n" + table_of(counts, greatest(frames, limit), true);
  text += "\n   share  samples  thread\n" + table_of(counts, greatest(threads, limit), false);
  if (!processes.empty())
    text += "\n   share  samples  process\n" + table_of(counts, greatest(processes, limit), false);
  return text;
}

}  // namespace jtrace::sampling
