#include "trace/io/allocations_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/class_names.h"
#include "base/jdk_names.h"
#include "base/size_text.h"
#include "base/strings.h"
#include "trace/filter_example.h"
#include "trace/io/table_rows.h"

namespace jtrace::trace::io {
namespace {

// In the order in which they are printed.
constexpr AllocationsBy kEach[] = {AllocationsBy::kClass, AllocationsBy::kSite, AllocationsBy::kMethod,
                                   AllocationsBy::kThread, AllocationsBy::kStack};
constexpr const char* kWords[] = {"class", "site", "stack", "thread", "method"};  // by AllocationsBy
constexpr const char* kTitles[] = {"CLASS", "SITE", "STACK", "THREAD",
                                   "METHOD (the innermost that is not of the JDK), and who called it"};

std::size_t index_of(AllocationsBy by) { return static_cast<std::size_t>(by); }
std::uint64_t rounded(double amount) { return static_cast<std::uint64_t>(std::llround(amount)); }

constexpr std::size_t kStacksUnasked = 3;  // a stack takes many lines

// Unasked the stacks are shown of what was narrowed to a class: who makes the byte[]?
bool is_shown(const AllocationsView& view, AllocationsBy by) {
  return view.by ? *view.by == by : by != AllocationsBy::kStack || !view.type.empty();
}
std::size_t rows_of(const AllocationsView& view, AllocationsBy by) {
  return by == AllocationsBy::kStack && !view.by ? std::min(view.rows, kStacksUnasked) : view.rows;
}
// Otherwise the stacks are the sites.
bool has_callers(const std::vector<AllocationRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.stack.find(';') != row.stack.npos; });
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// The relative error of an estimate from so many samples: one standard deviation. Not shown where estimates are too
// high for another reason, which is larger.
std::string error_text(const Allocated& amount) {
  char text[16];
  std::snprintf(text, sizeof text, "+-%.0f%%",
                100 / std::sqrt(static_cast<double>(std::max<std::uint64_t>(amount.elements, 1))));
  return text;
}

std::vector<std::string> frames_of(std::string_view stack) {
  std::vector<std::string> frames;
  for (std::size_t at = 0; at < stack.size();) {
    const std::size_t end = std::min(stack.find(';', at), stack.size());
    frames.push_back(frame_text(stack.substr(at, end - at)));
    at = end + 1;
  }
  return frames;
}

// Why a trace of samples may have none of the class, and what to type. Who makes an object is often in its package.
std::string distance_note(const ScopeStatistics& statistics, const std::string& type) {
  const Scope* scope = statistics.scope;
  if (scope == nullptr || !scope->events_sampled) return {};
  std::string text;
  if (filters_objects(*scope))
    text =
        "  the trace's filters select the classes of the objects (--events objects), and leave out all others, byte[] "
        "too: jtrace allocations PID --filter PATTERN records what the methods of the classes make\n";
  if (scope->sample_interval.value_or(0) == 0) return text;
  const bool is_of_program = type.find('.') != type.npos && !is_of_the_jdk(type) && !type.ends_with(']');
  const std::string filter = printable(filter_example(is_of_program ? type.substr(0, type.find('*')) : std::string()));
  return text + "  it has samples, one each " + std::to_string(*scope->sample_interval) +
         " bytes on average: who allocated less may have none.\n  next: jtrace allocations PID --filter '" + filter +
         "' records each object that these classes make; --sample-interval " +
         std::to_string(std::max<std::uint64_t>(1, *scope->sample_interval / 64)) + " takes more samples\n";
}

class TextView {
 public:
  TextView(const ScopeStatistics& statistics, const AllocationsView& view)
      : statistics_(statistics),
        view_(view),
        has_error_(statistics.allocation_kind == AllocationKind::kSampled && statistics.surplus_note().empty()),
        total_(statistics.places.total(view.type).bytes) {}

  std::string text() {
    const Allocated total = statistics_.places.total(view_.type);
    const std::string note = statistics_.allocation_note(), surplus = statistics_.surplus_note();
    if (total.elements == 0)
      return "no allocations of " + printable(view_.type) + " in the trace, of " +
             std::to_string(statistics_.places.total("").elements) + " recorded" + advice() + "\n" +
             (note.empty() ? "" : "  they are " + note + "\n") + distance_note(statistics_, view_.type);
    out_ = std::to_string(rounded(total.bytes)) + " bytes in " + counted(rounded(total.objects), "object");
    if (!view_.type.empty()) out_ += " of " + chosen_text();
    out_ += rate_text(total.bytes);
    out_ +=
        "; " + (note.empty() ? std::string("exact: each object that was recorded") : of_samples(note, surplus)) + "\n";
    if (const std::string filters = statistics_.filters_note(); !filters.empty()) out_ += "  " + filters + "\n";
    if (note.empty() && statistics_.scope->callouts_record_allocations)
      out_ +=
          "  without those of calls that began before the trace, and what no 'new' makes: concatenated strings (from "
          "JDK 9 "
          "on), lambda objects, clones\n";
    if (const std::string cut = statistics_.cut_stacks_note(); !cut.empty()) out_ += "  " + cut + "\n";
    out_ += lost_events(statistics_);
    for (const AllocationsBy by : kEach)
      if (is_shown(view_, by)) table(by);
    return std::move(out_);
  }

 private:
  // " (35.2 MiB a second for 10.0 s)"; "" if it is not known how long the trace is.
  std::string rate_text(double bytes) const {
    const Scope* scope = statistics_.scope;
    const std::uint64_t length = scope == nullptr ? 0 : scope->length();
    if (length == 0) return {};
    const double seconds = static_cast<double>(length) / 1e9;
    char time[32];
    std::snprintf(time, sizeof time, "%.1f s)", seconds);
    return " (" + size_text(rounded(bytes / seconds)) + " a second for " + time;
  }
  // The surplus on lines of its own.
  static std::string of_samples(const std::string& note, const std::string& surplus) {
    if (surplus.empty()) return note;
    const std::size_t end = note.size() - surplus.size() - 2;  // "; "
    return note.substr(0, end) + "\n  " + surplus;
  }
  std::string chosen_text() const {
    const auto classes = statistics_.places.classes(view_.type);
    return classes ? classes_text(*classes) : printable(view_.type);
  }
  std::string advice() const {
    const auto classes = statistics_.places.classes(view_.type);
    return classes || classes.error().help.empty() ? "" : "; " + printable(classes.error().help);
  }
  void table(AllocationsBy by) {
    const bool needs_stack = by != AllocationsBy::kClass && by != AllocationsBy::kThread;
    // Unasked only where they are not the sites.
    if (by == AllocationsBy::kMethod && !view_.by && !statistics_.places.jdk_makes_for_program(view_.type)) return;
    const auto rows = statistics_.places.rows(by, view_.type);
    if (by == AllocationsBy::kStack && !view_.by && !has_callers(rows)) return;
    if (needs_stack && !statistics_.places.has_stacks()) {
      out_ += "  no sites: no stack was recorded (attach: --stack-depth; probe: --stack)\n";
      return;
    }
    char line[128];
    std::snprintf(line, sizeof line, "  %14s %7s %12s%s  ", "BYTES", "SHARE", "OBJECTS", has_error_ ? "  ERROR" : "");
    out_ += std::string(line) + kTitles[index_of(by)] + "\n";
    for (std::size_t i = 0; i < std::min(rows_of(view_, by), rows.size()); ++i) row(by, rows[i]);
    out_ += more_rows(rows_left_out(rows.size(), rows_of(view_, by)));
    if (by == AllocationsBy::kMethod)
      without_stack(rows, "(no method of the program in what was recorded of the stack)");
    // Recorded by the JVM, before the class had callouts.
    else if (needs_stack) without_stack(rows, "(recorded without a site)");
  }
  void without_stack(const std::vector<AllocationRow>& rows, const char* what) {
    Allocated rest = statistics_.places.total(view_.type);
    for (const AllocationRow& row : rows) {
      rest.bytes -= row.amount.bytes;
      rest.objects -= row.amount.objects;
    }
    if (rest.bytes < 0.5) return;
    rest.objects = std::max(rest.objects, 0.0);
    amounts(rest);
    out_ += std::string(has_error_ ? 7 : 0, ' ') + "  " + what + "\n";
  }
  void amounts(const Allocated& amount) {
    char line[128];
    std::snprintf(line, sizeof line, "  %14llu %6.1f%% %12llu", static_cast<unsigned long long>(rounded(amount.bytes)),
                  percent(amount.bytes, total_), static_cast<unsigned long long>(rounded(amount.objects)));
    out_ += line;
  }
  void row(AllocationsBy by, const AllocationRow& row) {
    amounts(row.amount);
    if (has_error_) out_ += " " + right_aligned(error_text(row.amount), 6);
    out_ += "  ";
    switch (by) {
      case AllocationsBy::kClass: out_ += printable(row.type); break;
      case AllocationsBy::kSite: out_ += printable(frame_text(row.stack)) + " " + printable(row.type); break;
      case AllocationsBy::kThread:
        out_ += row.thread == 0 ? "?" : printable(statistics_.scope->thread_name(row.thread));
        break;
      case AllocationsBy::kMethod: out_ += method_text(row); break;
      case AllocationsBy::kStack:
        out_ += printable(row.type);
        for (const std::string& frame : frames_of(row.stack))
          out_ += "\n" + std::string(has_error_ ? 48 : 41, ' ') + printable(frame);
        break;
    }
    out_ += "\n";
  }

  static std::string method_text(const AllocationRow& row) {
    const std::vector<std::string> frames = frames_of(row.stack);
    return printable(frames[0]) + " " + printable(row.type) +
           (frames.size() == 1 ? "" : ", called in " + printable(frames[1]));
  }

  const ScopeStatistics& statistics_;
  const AllocationsView& view_;
  bool has_error_;
  double total_;
  std::string out_;
};

void write_row(JsonWriter& json, const ScopeStatistics& statistics, AllocationsBy by, const AllocationRow& row) {
  json.begin_object();
  if (by != AllocationsBy::kThread) json.member("class", row.type);
  if (by == AllocationsBy::kSite) json.member("site", frame_text(row.stack));
  if (by == AllocationsBy::kThread)
    json.member("threadId", row.thread)
        .member("name", row.thread == 0 ? "" : statistics.scope->thread_name(row.thread));
  if (by == AllocationsBy::kMethod) {
    const std::vector<std::string> frames = frames_of(row.stack);
    json.member("method", frames[0]).member("calledIn", frames.size() == 1 ? "" : frames[1]);
  }
  if (by == AllocationsBy::kStack) {
    json.key("stack").begin_array();
    for (const std::string& frame : frames_of(row.stack)) json.value(frame);
    json.end_array();
  }
  json.member("bytes", rounded(row.amount.bytes)).member("instances", rounded(row.amount.objects));
  json.member("recorded", row.amount.elements).end_object();
}

void write_process(JsonWriter& json, const std::string& process, const ScopeStatistics& statistics,
                   const AllocationsView& view) {
  const Allocated total = statistics.places.total(view.type);
  json.begin_object().member("processId", process).member("kind", word_of(statistics.allocation_kind));
  if (const std::string note = statistics.allocation_note(); !note.empty()) json.member("note", note);
  if (const std::string note = statistics.cut_stacks_note(); !note.empty()) json.member("stacksNote", note);
  if (const std::string note = statistics.filters_note(); !note.empty()) json.member("filtersNote", note);
  json.member("bytes", rounded(total.bytes)).member("instances", rounded(total.objects));
  json.member("recorded", total.elements);
  for (const AllocationsBy by : kEach) {
    if (!is_shown(view, by)) continue;
    const auto rows = statistics.places.rows(by, view.type);
    const std::string key =
        std::string("by") + static_cast<char>(kWords[index_of(by)][0] - 'a' + 'A') + (kWords[index_of(by)] + 1);
    json.key(key).begin_array();
    for (std::size_t i = 0; i < std::min(view.rows, rows.size()); ++i) write_row(json, statistics, by, rows[i]);
    json.end_array();
    write_left_out(json, key, rows_left_out(rows.size(), view.rows));
  }
  json.end_object();
}

}  // namespace

std::optional<AllocationsBy> allocations_by(std::string_view word) {
  for (const AllocationsBy by : kEach)
    if (word == kWords[index_of(by)]) return by;
  return std::nullopt;
}

std::string allocations_text(const Statistics& statistics, const AllocationsView& view) {
  std::string out;
  for (const std::string& process : statistics.process_ids())
    if (const ScopeStatistics* chosen = statistics.chosen(process, Family::kAllocations))
      out += TextView(*chosen, view).text();
  if (!out.empty()) return out;
  out = "no allocations in the trace" + recorded_without(statistics, Family::kAllocations) + "\n";
  for (const ScopeStatistics& each : statistics.by_scope()) {
    if (each.scope == nullptr) continue;
    out += distance_note(each, view.type);
  }
  return out;
}

std::string allocations_json(const Statistics& statistics, std::string_view input, const AllocationsView& view) {
  std::string out;
  JsonWriter json(out);
  begin_trace_view(json, "allocations", statistics, input);
  json.key("data").begin_array();
  for (const std::string& process : statistics.process_ids())
    if (const ScopeStatistics* chosen = statistics.chosen(process, Family::kAllocations))
      write_process(json, process, *chosen, view);
  json.end_array().end_object();
  return out + '\n';
}

}  // namespace jtrace::trace::io
