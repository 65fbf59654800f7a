#include "perfdata/top_view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

#include "base/strings.h"
#include "base/terminal.h"
#include "perfdata/derived.h"
#include "perfdata/gc_causes.h"
#include "perfdata/jvm_listing.h"
#include "perfdata/snapshot_text.h"

namespace jtrace::perfdata {
namespace {

void remember(std::deque<double>& history, double value) {
  history.push_back(std::clamp(value, 0.0, 1.0));
  if (history.size() > TopView::kHistory) history.pop_front();
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", std::clamp(share, 0.0, 9.999) * 100);
  return text;
}

std::string millis(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1fms", seconds * 1e3);
  return text;
}

struct Column {
  std::string_view heading;  // as wide as its cells
  int leaves;                // the order in which columns go where there is no room; 0: it stays
};
constexpr Column kHistoryColumns[] = {{"     PID", 0},
                                      {" HEAP", 0},
                                      {"  MAX", 6},
                                      {"    %", 5},
                                      {"heap            ", 2},
                                      {"  GC%", 0},
                                      {"  GC/s", 3},
                                      {"pauses          ", 1},
                                      {"  THR", 0},
                                      {"  UP", 4}};
constexpr Column kPauseColumns[] = {
    {"     PID", 0}, {" HEAP", 4},     {"  MAX", 2},   {"  PAUSES", 0},
    {"   GC/s", 3},  {"  LONGEST", 0}, {" MISSED", 1}, {"LAST PAUSE                    ", 0}};
constexpr std::size_t kMain = 24;  // columns of it that are seen, if it is that long

std::span<const Column> columns_of(TopColumns shown) {
  if (shown == TopColumns::kPauses) return kPauseColumns;
  return kHistoryColumns;
}

std::string chosen_of(const std::vector<std::string>& cells, const std::vector<bool>& chosen) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (chosen[i]) text += cells[i] + " ";
  return text;
}

template <class... Values>
std::string cell(const char* format, Values... values) {
  char text[64];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace

std::string top_head(std::size_t jvms, std::size_t refused, std::size_t columns) {
  std::string head = "hsperf top: " + counted(jvms, "JVM");
  if (refused != 0) head += ", " + std::to_string(refused) + " cannot be read";
  for (const std::string_view keys : {"   sort: h heap, g gc, t threads, p pid, n name   c causes   q quits",
                                      "   sort: h g t p n   c causes   q quits", "   q quits"})
    if (columns == 0 || head.size() + keys.size() <= columns) return head.append(keys);
  return head;
}

std::vector<bool> top_columns(TopColumns shown, std::size_t columns, std::size_t main) {
  const auto all = columns_of(shown);
  std::vector<bool> chosen(all.size(), true);
  if (columns == 0) return chosen;
  std::size_t width = std::clamp<std::size_t>(main, 4, kMain);
  for (const Column& each : all) width += each.heading.size() + 1;
  for (int next = 1; width > columns; ++next) {
    const auto leaves = std::find_if(all.begin(), all.end(), [&](const Column& each) { return each.leaves == next; });
    if (leaves == all.end()) break;
    chosen[static_cast<std::size_t>(leaves - all.begin())] = false;
    width -= leaves->heading.size() + 1;
  }
  return chosen;
}

std::string top_heading(TopColumns shown, const std::vector<bool>& chosen) {
  std::vector<std::string> headings;
  for (const Column& each : columns_of(shown)) headings.emplace_back(each.heading);
  return chosen_of(headings, chosen) + "MAIN";
}

bool top_order_of(char key, TopOrder& order) {
  switch (key) {
    case 'h': order = TopOrder::kHeap; return true;
    case 'g': order = TopOrder::kGc; return true;
    case 't': order = TopOrder::kThreads; return true;
    case 'p': order = TopOrder::kPid; return true;
    case 'n': order = TopOrder::kName; return true;
    default: return false;
  }
}

std::string sparkline(const std::deque<double>& values, std::size_t width) {
  static constexpr const char* kBlocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                            "\u2585", "\u2586", "\u2587", "\u2588"};
  std::string text(width > values.size() ? width - values.size() : 0, ' ');
  for (const double value : values) text += kBlocks[static_cast<std::size_t>(std::clamp(value, 0.0, 1.0) * 7.999)];
  return text;
}

std::string short_size(double bytes) {
  static constexpr char kUnits[] = "BKMGTP";
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < sizeof kUnits - 1) {
    bytes /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, bytes < 9.95 && unit != 0 ? "%.1f%c" : "%.0f%c", bytes, kUnits[unit]);
  return text;
}

std::string short_time(double seconds) {
  struct Unit {
    double seconds;
    char letter;
  };
  for (const Unit& unit : {Unit{86400, 'd'}, Unit{3600, 'h'}, Unit{60, 'm'}})
    if (seconds >= unit.seconds * 2) return std::to_string(static_cast<long>(seconds / unit.seconds)) + unit.letter;
  return std::to_string(std::max(0L, static_cast<long>(seconds))) + "s";
}

void TopView::update(const JvmSet& jvms) {
  ++round_;
  refused_ = jvms.refused().size();
  for (const auto& jvm : jvms.jvms()) {
    Line& line = lines_[jvm->number];
    const Snapshot& now = jvm->snapshot;
    const Snapshot* before = jvm->has_before ? &jvm->before : nullptr;
    line.seen = round_;
    line.pid = jvm->source.pid();
    if (line.main.empty()) {
      const std::string command = utf8_from_modified(now.text_value("sun.rt.javaCommand").value_or("?"));
      append_one_line(line.main, main_class_of(command, true));
    }
    line.heap_used = derived_value("heap.used", now, before).value_or(0);
    line.heap_max = derived_value("heap.max", now, before).value_or(0);
    line.threads = derived_value("threads.live", now, before).value_or(0);
    line.uptime = derived_value("uptime", now, before).value_or(0);
    const auto share = derived_value("gc.pause_share", now, before);
    line.has_rates = share.has_value();
    line.gc_share = share.value_or(0);
    line.gc_rate = derived_value("gc.rate", now, before).value_or(0);
    note_pauses(line, now);
    remember(line.heap_history, line.heap_max > 0 ? line.heap_used / line.heap_max : 0);
    if (share) remember(line.gc_history, *share);
  }
  std::erase_if(lines_, [&](const auto& line) { return line.second.seen != round_; });
}

void TopView::note_pauses(Line& line, const Snapshot& now) {
  const auto count = derived_value("gc.count", now, nullptr);
  line.has_pauses = count.has_value();
  line.pauses = count.value_or(0);
  const double ticks = static_cast<double>(now.long_value("sun.os.hrt.frequency").value_or(1'000'000'000));
  const bool is_first = line.tracker.seen() == 0;
  for (const GcPause& pause : line.tracker.observe(now)) {
    line.longest = std::max(line.longest, static_cast<double>(pause.exit - pause.entry) / ticks);
    line.cause = pause.cause;
    line.kind = pause.kind;
  }
  // Until one is seen: what the JVM says of the last one.
  const std::string_view last = now.text_value("sun.gc.lastCause").value_or("");
  if (is_first && line.tracker.seen() == 0 && line.tracker.missed() == 0 && last != kNoCause) line.cause = last;
}

// Pauses between two looks of which only the number is known may have been longer; their column is the first to go
// where there is no room.
std::string TopView::longest_text(const Line& line) {
  if (line.tracker.seen() == 0) return "-";
  return (line.tracker.missed() > 0 ? ">=" : "") + millis(line.longest);
}

std::vector<std::string> TopView::pauses_of(const Line& line) const {
  std::string name = line.kind + (line.kind.empty() || line.cause.empty() ? "" : ", ") + line.cause;
  std::string last;
  append_one_line(last, name.empty() ? (line.pauses > 0 ? "?" : "-") : name);
  last.resize(std::max<std::size_t>(last.size(), 30), ' ');
  const auto number = [&](std::int64_t value) { return line.has_pauses ? std::to_string(value) : "-"; };
  return {cell("%8d", static_cast<int>(line.pid)),
          cell("%5s", short_size(line.heap_used).c_str()),
          cell("%5s", line.heap_max > 0 ? short_size(line.heap_max).c_str() : "-"),
          cell("%8s", number(static_cast<std::int64_t>(line.pauses)).c_str()),
          cell("%7s", line.has_rates ? percent(line.gc_rate / 100).c_str() : "-"),
          cell("%9s", longest_text(line).c_str()),
          cell("%7s", number(line.tracker.missed()).c_str()),
          last};
}

std::vector<std::string> TopView::cells_of(const Line& line) const {
  return {cell("%8d", static_cast<int>(line.pid)),
          cell("%5s", short_size(line.heap_used).c_str()),
          cell("%5s", line.heap_max > 0 ? short_size(line.heap_max).c_str() : "-"),
          cell("%5s", line.heap_max > 0 ? percent(line.heap_used / line.heap_max).c_str() : "-"),
          sparkline(line.heap_history, kHistory),
          cell("%5s", line.has_rates ? percent(line.gc_share).c_str() : "-"),
          cell("%6s", line.has_rates ? percent(line.gc_rate / 100).c_str() : "-"),
          sparkline(line.gc_history, kHistory),
          cell("%5.0f", line.threads),
          cell("%4s", short_time(line.uptime).c_str())};
}

std::vector<std::string> TopView::lines(TopOrder order, std::size_t rows, std::size_t columns, TopColumns shown) const {
  std::vector<const Line*> sorted;
  for (const auto& [number, line] : lines_) sorted.push_back(&line);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Line* a, const Line* b) {
    switch (order) {
      case TopOrder::kHeap: return a->heap_used > b->heap_used;
      case TopOrder::kGc: return a->gc_share > b->gc_share;
      case TopOrder::kThreads: return a->threads > b->threads;
      case TopOrder::kName: return a->main < b->main;
      case TopOrder::kPid: break;
    }
    return a->pid < b->pid;
  });
  std::size_t main = 0;
  for (const Line* line : sorted) main = std::max(main, line->main.size());
  const std::vector<bool> chosen = top_columns(shown, columns, main);
  std::vector<std::string> text = {top_head(sorted.size(), refused_, columns), top_heading(shown, chosen)};
  for (const Line* line : sorted)
    text.push_back(chosen_of(shown == TopColumns::kPauses ? pauses_of(*line) : cells_of(*line), chosen) + line->main);
  if (rows != 0 && text.size() > rows) text.resize(rows);
  if (columns != 0)
    for (std::string& line : text) line = cut_to_columns(line, columns);
  return text;
}

}  // namespace jtrace::perfdata
