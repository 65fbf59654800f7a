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

using Rows = std::map<std::string, WaitRow>;

void add(WaitRow& row, const WaitRow& other) {
  row.time += other.time;
  row.longest = std::max(row.longest, other.longest);
  row.waits += other.waits;
  row.parties.add(other.parties);
}

WaitRow row_of(const ProfileCounts& counts, const ProfileCounts::Stack& stack, const ProfileCounts::Count& count) {
  WaitRow row{.name = "", .time = count.weight, .longest = count.longest, .waits = count.samples, .parties = {}};
  if (const WaitPartyCounts* parties = counts.parties_of(stack)) row.parties = *parties;
  return row;
}

std::vector<WaitRow> sorted(const Rows& rows) {
  std::vector<WaitRow> all;
  for (const auto& [name, row] : rows) {
    all.push_back(row);
    all.back().name = name;
  }
  std::stable_sort(all.begin(), all.end(), [](const WaitRow& a, const WaitRow& b) { return a.time > b.time; });
  return all;
}

std::string line_of(const std::string& name, const WaitRow& row) {
  char text[80];
  std::snprintf(text, sizeof text, "%13.3f %11.3f %8llu  ", static_cast<double>(row.time) / 1e6,
                static_cast<double>(row.longest) / 1e6, static_cast<unsigned long long>(row.waits));
  return text + name + "\n";
}

// Below a row, where its names are.
std::string lines_of_parties(const WaitRow& row) {
  std::string text;
  const std::string indent(39, ' ');
  for (const auto& [title, names] :
       {std::pair("owner: ", &row.parties.owners()), {"woken by: ", &row.parties.wakers()}})
    if (!names->empty()) text += indent + title + party_text(*names, row.time) + "\n";
  return text;
}

// The greatest rows, and one of those that are not shown.
std::string table_of(const Rows& rows, std::size_t limit, bool with_parties) {
  const std::vector<WaitRow> all = sorted(rows);
  std::string text;
  WaitRow rest;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < limit) text += line_of(all[i].name, all[i]) + (with_parties ? lines_of_parties(all[i]) : "");
    else add(rest, all[i]);
  }
  return all.size() <= limit ? text : text + line_of("(" + std::to_string(all.size() - limit) + " more)", rest);
}

constexpr const char* kOfTheVm = "[VM]";  // to_string(WaitKind::kVm)

bool has_java(const ProfileCounts& counts, const ProfileCounts::Stack& stack) {
  return std::any_of(stack.begin(), stack.end(),
                     [&](std::uint32_t name) { return counts.kinds()[name] == ProfileCounts::Kind::kJava; });
}

std::string what_and_where(const ProfileCounts& counts, const ProfileCounts::Stack& stack) {
  const std::size_t thread = counts.thread_at();
  const std::string first = stack.size() > thread + 1 ? counts.names()[stack[thread + 1]] : "";
  const bool waits = first.starts_with('[') && first != coreinspect::kCutStack &&
                     counts.kinds()[stack[thread + 1]] == ProfileCounts::Kind::kThread;
  // Threads of the VM that wait for work: in one row, or they are all that the table has.
  const std::string place =
      first == kOfTheVm && !has_java(counts, stack) ? "threads of the VM" : place_of_wait(counts, stack);
  return (waits ? first + " " : std::string("[runs] ")) + place;
}

Rows rows_by_place(const ProfileCounts& counts) {
  Rows rows;
  for (const auto& [stack, count] : counts.stacks())
    add(rows[what_and_where(counts, stack)], row_of(counts, stack, count));
  return rows;
}

}  // namespace

std::vector<WaitRow> wait_rows(const ProfileCounts& counts) { return sorted(rows_by_place(counts)); }

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
  Rows threads;
  const std::size_t thread = counts.thread_at();
  for (const auto& [stack, count] : counts.stacks())
    add(threads[(counts.shape().processes ? counts.names()[stack[0]] + " / " : "") + counts.names()[stack[thread]]],
        row_of(counts, stack, count));
  return "     time, ms longest, ms    times  what and where\n" + table_of(rows_by_place(counts), limit, true) +
         "\n     time, ms longest, ms    times  thread\n" + table_of(threads, limit, false);
}

}  // namespace jtrace::sampling
