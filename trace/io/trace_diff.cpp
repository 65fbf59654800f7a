#include "trace/io/trace_diff.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/hidden_names.h"
#include "base/json.h"
#include "base/strings.h"
#include "trace/io/usual_ratio.h"

namespace jtrace::trace::io {
namespace {

// Rows of the same name but for what differs from run to run are one.
void merge_hidden_names(FigureTable& table) {
  std::map<std::string, Figure> merged;
  for (const auto& [name, figure] : table.rows) {
    Figure& row = merged[lasting_name(name)];
    row.amount += figure.amount;
    row.count += figure.count;
  }
  table.rows = std::move(merged);
}

void add_table(Recording& made, FigureTable table) {
  if (table.rows.empty()) return;
  merge_hidden_names(table);
  made.tables.push_back(std::move(table));
}
void add_table(Recording& made, const ScopeStatistics& of, FigureTable table) {
  table.lost = of.scope->losses.events;
  table.events = of.events();
  add_table(made, std::move(table));
}

std::string exception_name(const Scope& scope, const ExceptionKey& key) {
  std::string name = key.type + " " + std::string(name_of(key.end)) + ", thrown in " +
                     (key.thrown.line != 0 ? "" : "or below ") + scope.method_name(key.thrown.method);
  if (has_handler(scope, key)) name += ", caught in " + scope.method_name(key.caught.method);
  return name;
}

// Of which calls a method's longest is: those of the first seconds may be slow because of the callouts alone.
enum class LongestOf : std::uint8_t { kAll, kSettled, kUnsettled };
LongestOf longest_of(const ScopeStatistics& calls) {
  if (calls.scope->methods_with_callouts.value_or(0) == 0) return LongestOf::kAll;
  const bool any = std::any_of(calls.methods.begin(), calls.methods.end(),
                               [](const auto& each) { return each.second.settled_longest != 0; });
  return any ? LongestOf::kSettled : LongestOf::kUnsettled;
}
std::string note_of(LongestOf of) {
  const std::string begun = "in the first " + std::to_string(kSettling / 1'000'000'000) +
                            " s of the trace, when the JVM had to compile the classes anew, with their callouts";
  return of == LongestOf::kSettled ? "the longest calls are without those that began " + begun
                                   : "* the longest calls may be long because of jtrace: all began " + begun;
}

void add_calls(Recording& made, const ScopeStatistics& calls) {
  FigureTable self{.title = std::string(kSelfTime), .unit = "ns", .rows = {}};
  FigureTable mean{.title = "methods: mean time of a call", .unit = "ns", .over_time = false, .rows = {}};
  FigureTable total{.title = std::string(kTotalTime), .unit = "ns", .rows = {}};
  FigureTable times{.title = std::string(kNumberOfCalls), .unit = "times", .rows = {}};
  FigureTable longest{
      .title = "methods: the longest call", .unit = "ns", .over_time = false, .in_both = true, .rows = {}};
  for (const auto& [id, method] : calls.methods) {
    if (method.calls == 0) continue;
    const std::string name = lasting_name(calls.scope->method_name(id));
    Figure& row = self.rows[name];
    row.amount += static_cast<double>(method.self);
    row.count += static_cast<double>(method.calls);
    mean.rows[name].amount += static_cast<double>(method.total);
    Figure& whole = total.rows[name];
    whole.amount += static_cast<double>(method.total);
    whole.count += static_cast<double>(method.calls);
    times.rows[name].amount += static_cast<double>(method.calls);
  }
  for (auto& [name, row] : mean.rows) row.amount /= self.rows[name].count;
  const LongestOf of = longest_of(calls);
  for (const auto& [id, durations] : calls.slow.methods()) {
    const auto method = calls.methods.find(id);
    const std::uint64_t settled = method == calls.methods.end() ? 0 : method->second.settled_longest;
    if (of == LongestOf::kSettled && settled == 0) continue;
    Figure& row = longest.rows[lasting_name(calls.scope->method_name(id))];
    row.amount = std::max(row.amount, static_cast<double>(of == LongestOf::kSettled ? settled : durations.longest()));
  }
  if (!longest.rows.empty() && of != LongestOf::kAll) made.notes.push_back(made.name + ": " + note_of(of));
  add_table(made, calls, std::move(self));
  add_table(made, calls, std::move(total));
  add_table(made, calls, std::move(mean));
  add_table(made, calls, std::move(times));
  add_table(made, calls, std::move(longest));
}

void add_waits(Recording& made, const ScopeStatistics& monitors) {
  FigureTable table{.title = "blocked, by class of the monitor or lock", .unit = "ns", .rows = {}};
  for (const auto& [name, waits] : monitors.contention)
    table.rows[name] = {static_cast<double>(waits.total), static_cast<double>(waits.count)};
  for (const auto& [name, sum] : monitors.scope->short_contentions) {
    Figure& row = table.rows[name.empty() ? "other classes" : name];
    row.amount += static_cast<double>(sum.total);
    row.count += static_cast<double>(sum.count);
  }
  add_table(made, monitors, std::move(table));
}

void add_allocations(Recording& made, const ScopeStatistics& statistics) {
  const auto add = [&](const char* title, const std::map<std::string, Allocated>& rows) {
    FigureTable table{.title = title, .unit = "bytes", .rows = {}};
    for (const auto& [name, allocated] : rows) table.rows[name] = {allocated.bytes, allocated.objects};
    add_table(made, statistics, std::move(table));
  };
  add("allocated, by class", statistics.allocations);
  add("allocated, by site and class", statistics.sites);
}

void add_process(Recording& made, const ReportCollector& report, const std::string& process) {
  if (const auto* calls = report.chosen(process, Family::kCalls)) add_calls(made, *calls);
  if (const auto* monitors = report.chosen(process, Family::kMonitors)) add_waits(made, *monitors);
  if (const auto* gc = report.chosen(process, Family::kGc)) {
    FigureTable table{.title = "pauses for collections", .unit = "ns", .rows = {}};
    table.rows["all pauses"] = {static_cast<double>(gc->gc.total), static_cast<double>(gc->gc.count)};
    add_table(made, *gc, std::move(table));
    add_table(made, *gc,
              {.title = "the longest pause",
               .unit = "ns",
               .over_time = false,
               .rows = {{"longest pause", {static_cast<double>(gc->gc.longest), 0}}}});
  }
  if (const auto* chosen = report.chosen(process, Family::kExceptions)) {
    FigureTable table{.title = "exceptions", .unit = "times", .rows = {}};
    for (const auto& [key, count] : chosen->exceptions.most_first()) {
      Figure& row = table.rows[exception_name(*chosen->scope, *key)];
      row.amount += static_cast<double>(count->count);
      row.count = row.amount;
    }
    add_table(made, *chosen, std::move(table));
  }
  if (const auto* allocations = report.chosen(process, Family::kAllocations)) add_allocations(made, *allocations);
  if (const auto* heap = report.chosen(process, Family::kHeap)) {
    FigureTable table{.title = "heap, by class", .unit = "bytes", .over_time = false, .rows = {}};
    for (const auto& [name, amount] : heap->heap)
      table.rows[name] = {static_cast<double>(amount.bytes), static_cast<double>(amount.count)};
    add_table(made, *heap, std::move(table));
  }
}

using Weight = std::uint64_t CallTree::Node::*;

StackProfile stacks_of(const CallTree& tree, const char* unit, Weight weight) {
  StackProfile made{.unit = unit, .stacks = {}};
  std::vector<std::string> names, paths(tree.nodes.size());
  for (const std::string& name : tree.names) names.push_back(lasting_name(name));
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
    const std::string& above = paths[tree.nodes[i].parent];
    paths[i] = above + (above.empty() ? "" : ";") + names[tree.nodes[i].name];
    if (tree.nodes[i].*weight != 0) made.stacks[paths[i]] += static_cast<double>(tree.nodes[i].*weight);
  }
  return made;
}

// The weight that a trace has most of: time of calls, else what is allocated, else samples.
StackProfile stacks_of(const CallTree& tree) {
  constexpr std::pair<const char*, Weight> kWeights[] = {
      {"ns", &CallTree::Node::wall}, {"bytes", &CallTree::Node::bytes}, {"samples", &CallTree::Node::samples}};
  for (const auto& [unit, weight] : kWeights)
    if (StackProfile made = stacks_of(tree, unit, weight); !made.stacks.empty()) return made;
  return {};
}

Figure sum_of(const FigureTable& table, double scale) {
  Figure sum;
  for (const auto& [name, figure] : table.rows) {
    sum.amount += figure.amount * scale;
    sum.count += figure.count * scale;
  }
  return sum;
}
double lost_share(const FigureTable& table) {
  const auto lost = static_cast<double>(table.lost);
  return lost == 0 ? 0 : lost / (lost + static_cast<double>(table.events));
}

// Rows of both; those of one alone have 0 in the other.
DiffTable compare(const FigureTable& before, const FigureTable& after, double scale) {
  DiffTable made{.title = before.title, .unit = before.unit, .over_time = before.over_time, .rows = {}};
  made.lost_before = lost_share(before);
  made.lost_after = lost_share(after);
  made.all_before = sum_of(before, 1);
  made.all_after = sum_of(after, scale);
  if (made.title == kSelfTime && made.is_comparable()) made.usual = usual_ratio(before, after);
  const auto difference = [&](const DiffRow& row) {
    if (made.usual.applies()) return std::abs(row.after.amount - expected_after(made.usual, row, scale));
    return std::abs(made.has_shares()
                        ? row.after.amount / made.all_after.amount - row.before.amount / made.all_before.amount
                        : row.change());
  };
  std::map<std::string, DiffRow> rows;
  for (const auto& [name, figure] : before.rows) rows[name].before = figure;
  for (const auto& [name, figure] : after.rows) rows[name].after = {figure.amount * scale, figure.count * scale};
  for (auto& [name, row] : rows) {
    row.name = name;
    row.differs = differs_from(made.usual, row, scale, made.all_after.amount);
    if (row.before.is_none() && (before.in_both || before.partial)) continue;
    if (row.after.is_none() && (before.in_both || after.partial)) continue;
    if (row.change() == 0 && row.before.count == row.after.count) ++made.same;
    else made.rows.push_back(std::move(row));
  }
  std::stable_sort(made.rows.begin(), made.rows.end(),
                   [&](const DiffRow& a, const DiffRow& b) { return difference(a) > difference(b); });
  return made;
}

const FigureTable* find_table(const Recording& recording, const std::string& title) {
  for (const FigureTable& table : recording.tables)
    if (table.title == title) return &table;
  return nullptr;
}

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

double calls_of(const Recording& recording) {
  const FigureTable* self = find_table(recording, std::string(kSelfTime));
  return self == nullptr || self->lost != 0 ? 0 : sum_of(*self, 1).count;
}

// A program that ends when its work is done makes as many calls in the trace of a slow run as in that of a fast one.
bool have_same_work(const Difference& made) {
  const double before = calls_of(*made.before), after = calls_of(*made.after);
  return before > 0 && after > 0 && std::abs(after / before - 1) < kSameTime;
}

bool is_same(double before, double after) {
  return before <= 0 || after <= 0 || std::abs(after / before - 1) < kSameTime;
}
std::string factor_text(const Difference& made) { return " (x " + number("%.3g", made.scale) + ")"; }

void scale_to_time(Difference& made) {
  const double before = made.before->seconds, after = made.after->seconds;
  if (is_same(before, after)) return;
  if (have_same_work(made)) {
    made.scaled_note = "both made as many calls (" + number("%.0f", calls_of(*made.before)) + " and " +
                       number("%.0f", calls_of(*made.after)) + "): not scaled to the same time";
    return;
  }
  made.scale = before / after;
  made.scaled_note = "after, which took " + number("%.3f", after) + " s, is scaled to the " + number("%.3f", before) +
                     " s of before" + factor_text(made) + "; --as-is: not scaled";
}

// Where more is done in the same time each frame would seem to have less.
void scale_to_samples(Difference& made) {
  const double before = made.before->stacks.total(), after = made.after->stacks.total();
  if (is_same(before, after) || before == 0 || after == 0) return;
  made.scale = before / after;
  made.scaled_note = "shares are compared, since how long the profiles took is not known: after, which has " +
                     number("%.0f", after) + " " + made.after->stacks.unit + ", is scaled to the " +
                     number("%.0f", before) + " of before" + factor_text(made) +
                     "; if both took as long, --as-is compares amounts";
}

void choose_scale(Difference& made) {
  const bool is_profile = made.before->kind == "profile" && made.after->kind == "profile";
  if (is_profile && (made.before->seconds <= 0 || made.after->seconds <= 0)) return scale_to_samples(made);
  scale_to_time(made);
}

// ns; 0 if it is not known.
std::uint64_t time_of_producer(const Scope& scope) {
  if (!scope.created.present() || !scope.destroyed.present()) return 0;
  const std::uint64_t from = scope.created.ns(), to = scope.destroyed.ns();
  return to > from ? to - from : 0;
}

}  // namespace

Recording recording_of(const ReportCollector& report, std::string name) {
  Recording made{.name = std::move(name), .kind = "trace"};
  std::uint64_t first = UINT64_MAX, last = 0, profiled = 0;
  bool only_profiles = !report.by_scope().empty();
  for (const ScopeStatistics& each : report.by_scope()) {
    if (each.scope == nullptr) continue;
    made.begins_later = made.begins_later || each.begins_later;
    made.slow_calls_only = made.slow_calls_only || !each.scope->slower_than.empty();
    if (const std::string& least = each.scope->slower_than; !least.empty())
      made.notes.push_back(made.name + ": only calls of " + least + " s and longer were recorded, and their callers" +
                           each.scope->longest_note() +
                           ": means are of those, and the self time of a caller has its shorter callees");
    if (const std::string note = each.scope->pauses_note(); !note.empty())
      made.notes.push_back(made.name + ": " + note + "; the time of a pause counts where amounts are scaled");
    const bool is_profile = each.scope->agent_parameters.starts_with(kProfileParameters);
    if (each.scope->snapshot || is_profile) profiled = std::max(profiled, time_of_producer(*each.scope));
    only_profiles = only_profiles && is_profile;
    if (each.first == 0 || each.scope->snapshot) continue;
    first = std::min(first, each.first);
    last = std::max(last, each.last);
  }
  if (last > first) made.seconds = static_cast<double>(last - first) / 1e9;
  for (const std::string& line : lines_of(report.losses())) made.missing.push_back(made.name + ": " + line);
  for (const std::string& process : report.process_ids()) {
    add_process(made, report, process);
    if (!made.stacks.stacks.empty()) continue;
    if (const ScopeStatistics* best = report.with_frames(process)) {
      made.stacks = stacks_of(*report.tree(*best));
      made.calls = stacks_of(*report.tree(*best), "times", &CallTree::Node::calls);
    }
  }
  // The samples of jtrace profile -o x.xml are snapshots; it may have none.
  if (made.tables.empty() && (made.stacks.unit == "samples" || (only_profiles && made.stacks.stacks.empty()))) {
    made.stacks.unit = "samples";
    std::vector<std::string> missing = std::move(made.missing);
    made = recording_of(std::move(made.stacks), std::move(made.name));
    made.missing = std::move(missing);
    made.seconds = static_cast<double>(profiled) / 1e9;
  }
  return made;
}

Recording recording_of(StackProfile profile, std::string name) {
  Recording made{.name = std::move(name), .kind = "profile"};
  made.stacks.unit = profile.unit;
  for (const auto& [stack, weight] : profile.stacks) made.stacks.stacks[lasting_name(stack)] += weight;
  const FrameWeights weights = weights_of(made.stacks);
  const auto table = [&](std::string_view title, const std::map<std::string, double>& rows) {
    FigureTable filled{.title = std::string(title), .unit = made.stacks.unit, .rows = {}};
    for (const auto& [frame, weight] : rows) filled.rows[frame] = {weight, 0};
    add_table(made, std::move(filled));
  };
  table(kFramesBySelf, weights.self);
  table("frames: with what they call", weights.total);
  return made;
}

namespace {

// By --rows or --class: a class that is not in the file was not necessarily without objects.
void note_left_out(const JsonValue& histogram, FigureTable& table, Recording& made) {
  const double all = histogram["heap"]["objects"].number();
  double shown = 0;
  for (const auto& [name, figure] : table.rows) shown += figure.count;
  if (shown >= all) return;
  table.partial = true;
  made.notes.push_back(made.name + ": it has " + counted(table.rows.size(), "class", "classes") + " alone, " +
                       number("%.0f", shown) + " of " + number("%.0f", all) +
                       " objects (--rows, --class); others are not compared");
}

}  // namespace

Result<Recording> recording_of(const JsonValue& histogram, std::string name) {
  Recording made{.name = std::move(name), .kind = "histogram"};
  if (histogram["view"].text() != "histogram" || !histogram["data"].is(JsonValue::Kind::kArray))
    return fail(ErrorCategory::kMalformed, "it is not the JSON of 'jtrace inspect ... histogram --format json'");
  if (histogram.has("classObjects")) made.made.parameters = kReachable;
  else made.notes.push_back(made.name + ": garbage counts too; histogram --reachable has what is held alone");
  FigureTable table{.title = "heap, by class", .unit = "bytes", .over_time = false, .rows = {}};
  for (const JsonValue& row : histogram["data"].items()) {
    Figure& figure = table.rows[row["class"].text()];  // classes of several loaders together
    figure.amount += row["bytes"].number();
    figure.count += row["instances"].number();
  }
  note_left_out(histogram, table, made);
  if (histogram.has("complete") && !histogram["complete"].truth())
    for (const JsonValue& line : histogram["missing"].items()) made.missing.push_back(made.name + ": " + line.text());
  made.tables.push_back(std::move(table));
  return made;
}

std::vector<std::string> Difference::of_both(std::vector<std::string> Recording::*lines) const {
  std::vector<std::string> all = before->*lines;
  all.insert(all.end(), (after->*lines).begin(), (after->*lines).end());
  return all;
}

Difference compare(const Recording& before, const Recording& after, bool as_is) {
  Difference made{.before = &before, .after = &after};
  if (!as_is) choose_scale(made);
  for (const FigureTable& table : before.tables) {
    const FigureTable* other = find_table(after, table.title);
    if (other != nullptr && other->unit == table.unit)
      made.tables.push_back(compare(table, *other, table.over_time ? made.scale : 1));
    else made.alone.push_back("only before has " + table.title);
  }
  for (const DiffTable& table : made.tables) {
    made.is_comparable = made.is_comparable && table.is_comparable();
    if (made.usual_note.empty()) made.usual_note = usual_note(table);
  }
  for (const FigureTable& table : after.tables)
    if (find_table(before, table.title) == nullptr) made.alone.push_back("only after has " + table.title);
  return made;
}

}  // namespace jtrace::trace::io
