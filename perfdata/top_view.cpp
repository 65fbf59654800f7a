#include "perfdata/top_view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

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

}  // namespace

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

// Pauses between two looks of which only the number is known may have been longer.
std::string TopView::pauses_of(const Line& line) const {
  char numbers[200];
  const auto missed = static_cast<long long>(line.tracker.missed());
  std::snprintf(numbers, sizeof numbers, "%8d %5s %5s %8s %7s %9s %7s ", static_cast<int>(line.pid),
                short_size(line.heap_used).c_str(), line.heap_max > 0 ? short_size(line.heap_max).c_str() : "-",
                line.has_pauses ? std::to_string(static_cast<long long>(line.pauses)).c_str() : "-",
                line.has_rates ? percent(line.gc_rate / 100).c_str() : "-",
                line.tracker.seen() == 0 ? "-" : millis(line.longest).c_str(),
                line.has_pauses ? std::to_string(missed).c_str() : "-");
  std::string name = line.kind + (line.kind.empty() || line.cause.empty() ? "" : ", ") + line.cause;
  std::string printed;
  append_one_line(printed, name.empty() ? (line.pauses > 0 ? "?" : "-") : name);
  printed.resize(std::max<std::size_t>(printed.size(), 30), ' ');
  return numbers + printed + " " + line.main;
}

std::string TopView::text_of(const Line& line) const {
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, "%8d %5s %5s %5s ", static_cast<int>(line.pid),
                short_size(line.heap_used).c_str(), line.heap_max > 0 ? short_size(line.heap_max).c_str() : "-",
                line.heap_max > 0 ? percent(line.heap_used / line.heap_max).c_str() : "-");
  std::string text = numbers + sparkline(line.heap_history, kHistory);
  char rates[160];
  std::snprintf(rates, sizeof rates, " %5s %6s ", line.has_rates ? percent(line.gc_share).c_str() : "-",
                line.has_rates ? percent(line.gc_rate / 100).c_str() : "-");
  text += rates + sparkline(line.gc_history, kHistory);
  char rest[80];
  std::snprintf(rest, sizeof rest, " %5.0f %4s ", line.threads, short_time(line.uptime).c_str());
  return text + rest + line.main;
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
  std::string head = "hsperf top: " + counted(sorted.size(), "JVM");
  if (refused_ != 0) head += ", " + std::to_string(refused_) + " cannot be read";
  head += "   sort: h heap, g gc, t threads, p pid, n name   c causes   q quits";
  std::vector<std::string> text = {head};
  const bool pauses = shown == TopColumns::kPauses;
  text.push_back(pauses ? "     PID  HEAP   MAX   PAUSES    GC/s   LONGEST  MISSED LAST PAUSE                     MAIN"
                        : "     PID  HEAP   MAX     % heap              GC%   GC/s pauses            THR   UP MAIN");
  for (const Line* line : sorted) text.push_back(pauses ? pauses_of(*line) : text_of(*line));
  if (rows != 0 && text.size() > rows) text.resize(rows);
  if (columns != 0)
    for (std::string& line : text) line = cut_to_columns(line, columns);
  return text;
}

}  // namespace jtrace::perfdata
