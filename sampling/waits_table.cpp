// Waits for a terminal.
#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "base/jdk_names.h"
#include "coreinspect/tools/profile.h"
#include "sampling/profile_writers.h"

namespace jtrace::sampling {
namespace {

struct Row {
  std::uint64_t time = 0, longest = 0, waits = 0;  // ns
  void add(const Row& other) {
    time += other.time;
    longest = std::max(longest, other.longest);
    waits += other.waits;
  }
  void add(const ProfileCounts::Count& count) {
    add(Row{.time = count.weight, .longest = count.longest, .waits = count.samples});
  }
};

using Rows = std::map<std::string, Row>;

std::string line_of(const std::string& name, const Row& row) {
  char text[80];
  std::snprintf(text, sizeof text, "%13.3f %11.3f %8llu  ", static_cast<double>(row.time) / 1e6,
                static_cast<double>(row.longest) / 1e6, static_cast<unsigned long long>(row.waits));
  return text + name + "\n";
}

// The greatest rows, and one of those that are not shown.
std::string table_of(const Rows& rows, std::size_t limit) {
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  std::string text;
  Row rest;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i < limit) text += line_of(sorted[i].first, sorted[i].second);
    else rest.add(sorted[i].second);
  }
  return sorted.size() <= limit ? text : text + line_of("(" + std::to_string(sorted.size() - limit) + " more)", rest);
}

constexpr const char* kOfTheVm = "[VM]";  // to_string(WaitKind::kVm)

bool has_java(const ProfileCounts& counts, const ProfileCounts::Stack& stack) {
  return std::any_of(stack.begin(), stack.end(),
                     [&](std::uint32_t name) { return counts.kinds()[name] == ProfileCounts::Kind::kJava; });
}

}  // namespace

std::string place_of_wait(const ProfileCounts& counts, const ProfileCounts::Stack& stack) {
  const std::string* method = nullptr;
  for (std::size_t i = stack.size(); i-- > counts.thread_at() + 1;) {
    const std::string& name = counts.names()[stack[i]];
    if (counts.kinds()[stack[i]] != ProfileCounts::Kind::kJava || name.find('.') == name.npos) continue;
    if (!is_of_the_jdk(name)) return name;
    if (!method) method = &name;
  }
  if (method) return *method;
  return stack.size() > counts.thread_at() + 1 ? counts.names()[stack.back()] : "";
}

std::string waits_table(const ProfileCounts& counts, std::size_t limit) {
  Rows places, threads;
  const std::size_t thread = counts.thread_at();
  for (const auto& [stack, count] : counts.stacks()) {
    const std::string first = stack.size() > thread + 1 ? counts.names()[stack[thread + 1]] : "";
    const bool waits = first.starts_with('[') && first != coreinspect::kCutStack &&
                       counts.kinds()[stack[thread + 1]] == ProfileCounts::Kind::kThread;
    // Threads of the VM that wait for work: in one row, or they are all that the table has.
    const std::string place =
        first == kOfTheVm && !has_java(counts, stack) ? "threads of the VM" : place_of_wait(counts, stack);
    places[(waits ? first + " " : std::string("[runs] ")) + place].add(count);
    threads[(counts.shape().processes ? counts.names()[stack[0]] + " / " : "") + counts.names()[stack[thread]]].add(
        count);
  }
  return "     time, ms longest, ms    times  what and where\n" + table_of(places, limit) +
         "\n     time, ms longest, ms    times  thread\n" + table_of(threads, limit);
}

}  // namespace jtrace::sampling
