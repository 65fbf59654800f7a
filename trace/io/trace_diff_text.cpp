// A difference as text, JSON and data of a page.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <unordered_map>

#include "base/json_answer.h"
#include "base/strings.h"
#include "trace/io/diff_callers.h"
#include "trace/io/diff_summary.h"
#include "trace/io/report_page.h"
#include "trace/io/table_rows.h"
#include "trace/io/trace_diff.h"
#include "trace/io/usual_ratio.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kPageRows = 300, kPageFrames = 8'000;

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// "412 ns", "41.2 us", "3.061 s": four digits, so that a small time is no 0.
std::string time_text(double ns) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}};
  for (const auto& [size, name] : kUnits)
    if (std::abs(ns) >= size) return formatted(std::abs(ns) >= 1000 * size ? "%.0f" : "%.4g", ns / size) + name;
  return formatted("%.4g", ns) + " ns";
}
std::string amount_text(const std::string& unit, double amount) {
  return unit == "ns" ? time_text(amount) : formatted("%.0f", amount);
}
// With the unit, if the amount has none.
std::string whole_text(const std::string& unit, double amount) {
  return amount_text(unit, amount) + (unit == "ns" ? "" : " " + unit);
}
std::string change_text(const std::string& unit, double change) {
  return (change > 0 ? "+" : "") + amount_text(unit, change);
}
std::string ratio_text(const DiffRow& row) {
  if (row.before.is_none()) return "new";
  if (row.after.is_none()) return "gone";
  if (row.before.amount == 0 && row.after.amount == 0) return "";
  if (row.before.amount == 0) return "from 0";  // it was there
  if (row.after.amount == 0) return "to 0";
  const double ratio = row.after.amount / row.before.amount;
  return formatted(ratio >= 1000 && ratio < 1e6 ? "x %.0f" : "x %.3g", ratio);
}
std::string count_text(const DiffRow& row) {
  if (row.before.count == 0 && row.after.count == 0) return {};
  const auto text = [](double count) {
    return formatted(count < 100 && count != std::floor(count) ? "%.1f" : "%.0f", count);
  };
  return text(row.before.count) + " -> " + text(row.after.count);
}
std::string head_of(const Recording& recording) {
  return recording.name + " (" + recording.kind +
         (recording.seconds > 0 ? ", " + formatted("%.3f", recording.seconds) + " s" : "") + ")";
}

bool has_counts(const DiffTable& table) {
  return table.unit != "times" && std::any_of(table.rows.begin(), table.rows.end(), [](const DiffRow& row) {
           return row.before.count != 0 || row.after.count != 0;
         });
}

std::string lost_text(double share) { return share == 0 ? "none" : formatted("%.2g %%", share * 100); }
// "": nothing was lost.
std::string loss_note(const DiffTable& table) {
  if (table.is_comparable()) return {};
  return "not directly comparable: of before's events " + lost_text(table.lost_before) + " were lost, of after's " +
         lost_text(table.lost_after) + ", so there was more (>=)" +
         (table.has_shares() ? "; compare shares and means, if the loss hit all alike" : "");
}

// "45.1 -> 37.0 %"
std::string share_text(const DiffTable& table, const DiffRow& row) {
  return formatted("%.1f", 100 * row.before.amount / table.all_before.amount) + " -> " +
         formatted("%.1f %%", 100 * row.after.amount / table.all_after.amount);
}
std::string each_text(const DiffTable& table, const DiffRow& row) {
  const auto mean = [&](const Figure& of) { return of.count == 0 ? "-" : amount_text(table.unit, of.mean()); };
  return mean(row.before) + " -> " + mean(row.after);
}

std::string table_head(const DiffTable& table) {
  const char* counted = table.unit == "bytes" ? "OBJECTS" : "TIMES";
  const std::string times = has_counts(table) ? right_aligned(counted, 22) : "";
  if (table.is_comparable())
    return right_aligned("BEFORE", 14) + right_aligned("AFTER", 15) + right_aligned("CHANGE", 16) +
           right_aligned("RATIO", 11) + times;
  return right_aligned(table.lost_before != 0 ? ">= BEFORE" : "BEFORE", 14) +
         right_aligned(table.lost_after != 0 ? ">= AFTER" : "AFTER", 15) +
         (table.has_shares() ? right_aligned("SHARE", 18) : "") + (has_counts(table) ? right_aligned("MEAN", 26) : "") +
         times;
}

std::string row_text(const DiffTable& table, const DiffRow& row) {
  std::string out = right_aligned(amount_text(table.unit, row.before.amount), 14) +
                    right_aligned(amount_text(table.unit, row.after.amount), 15);
  if (table.is_comparable())
    out += right_aligned(change_text(table.unit, row.change()), 16) + right_aligned(ratio_text(row), 11);
  if (table.has_shares()) out += right_aligned(share_text(table, row), 18);
  if (!table.is_comparable() && has_counts(table)) out += right_aligned(each_text(table, row), 26);
  if (has_counts(table)) out += right_aligned(count_text(row), 22);
  return out + (row.differs ? " *" : "  ") + printable(row.name);
}

// Of what frames have by themselves, and of the numbers of calls.
class Callers {
 public:
  explicit Callers(const Difference& of)
      : stacks_(of.before->stacks, of.after->stacks, of.scale), calls_(of.before->calls, of.after->calls, of.scale) {}
  const DiffCallers& calls() const { return calls_; }
  // null: the table has none.
  const DiffCallers* find(const DiffTable& table) const {
    if (table.title == kNumberOfCalls) return &calls_;
    return (table.title == kSelfTime || table.title == kFramesBySelf) && stacks_.unit() == table.unit ? &stacks_
                                                                                                      : nullptr;
  }

 private:
  DiffCallers stacks_, calls_;
};

bool has_changed_much(const DiffRow& row) {
  constexpr double kMuch = 0.1;  // of the greater amount
  return std::abs(row.change()) >= kMuch * std::max(row.before.amount, row.after.amount);
}

// "called by Billing.total 1.2 ms -> 3.1 s, Billing.audit 5 ms -> 5 ms, 2 more"; "": nothing is known.
std::string callers_text(const std::string& unit, const std::vector<CallerShare>& shares) {
  constexpr std::size_t kShown = 2;
  if (shares.empty() || (shares.size() == 1 && shares.front().caller.empty())) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, shares.size()); ++i)
    text += (i == 0 ? "called by " : ", ") +
            (shares[i].caller.empty() ? std::string("nothing that was recorded") : printable(shares[i].caller)) + " " +
            amount_text(unit, shares[i].before) + " -> " + amount_text(unit, shares[i].after);
  return shares.size() > kShown ? text + ", " + std::to_string(shares.size() - kShown) + " more" : text;
}

// "called more often: Shop.price, 200 -> 2072 times, 1.03 s -> 10.7 s with what it calls; called by ...": what stands
// out, a line for each.
std::vector<std::string> summary_lines(const Difference& difference, const Callers& all_callers) {
  const DiffSummary summary = summary_of(difference);
  std::vector<std::string> lines;
  if (const DiffRow* row = summary.calls) {
    const std::string callers = callers_text("times", all_callers.calls().of(row->name));
    lines.push_back((row->after.count > row->before.count ? "called more often: " : "called less often: ") +
                    printable(row->name) + ", " + count_text(*row) + " times, " + time_text(row->before.amount) +
                    " -> " + time_text(row->after.amount) + " with what it calls" +
                    (callers.empty() ? "" : "; " + callers));
  }
  if (const DiffRow* row = summary.self) {
    const double before = row->before.mean(), after = row->after.mean();
    lines.push_back((after > before ? "longer by itself: " : "shorter by itself: ") + printable(row->name) + ", " +
                    time_text(before) + " -> " + time_text(after) + " a call, " + time_text(row->before.amount) +
                    " -> " + time_text(row->after.amount) + " in all");
  }
  return lines;
}

void append_table(std::string& out, const DiffTable& table, const DiffCallers* callers, std::size_t rows) {
  out += "\n" + table.title + (table.unit == "ns" ? "" : ", " + table.unit) + "\n";
  if (const std::string note = loss_note(table); !note.empty()) out += "  " + note + "\n";
  if (table.rows.empty()) {
    out += "  no difference in " + std::to_string(table.same) + (table.same == 1 ? " row\n" : " rows\n");
    return;
  }
  out += "  " + table_head(table) + "\n";
  for (std::size_t i = 0; i < std::min(rows, table.rows.size()); ++i) {
    out += "  " + row_text(table, table.rows[i]) + "\n";
    if (callers == nullptr || !table.is_comparable() || !has_changed_much(table.rows[i])) continue;
    if (const std::string called = callers_text(table.unit, callers->of(table.rows[i].name)); !called.empty())
      out += "    " + called + "\n";
  }
  if (table.rows.size() > rows) out += "  " + counted(table.rows.size() - rows, "more row") + ": --rows\n";
}

void write_input(JsonWriter& json, const Recording& recording) {
  json.begin_object().member("kind", recording.kind).member("path", recording.name);
  if (recording.seconds > 0) json.member("seconds", recording.seconds);
  json.end_object();
}

void write_usual(JsonWriter& json, const DiffTable& table) {
  const UsualRatio& usual = table.usual;
  json.key("usual").begin_object().member("ratio", usual.ratio).member("timesRatio", usual.calls);
  json.member("methods", usual.methods).member("alike", usual.alike).member("note", usual_note(table)).end_object();
}

void write_callers(JsonWriter& json, const std::vector<CallerShare>& shares) {
  json.key("callers").begin_array();
  for (const CallerShare& each : shares)
    json.begin_object()
        .member("name", each.caller)
        .member("before", each.before)
        .member("after", each.after)
        .end_object();
  json.end_array();
}

void write_tables(JsonWriter& json, const Difference& difference, const Callers& all_callers, std::size_t rows) {
  json.begin_array();
  for (const DiffTable& table : difference.tables) {
    const DiffCallers* callers = all_callers.find(table);
    json.begin_object().member("table", table.title).member("unit", table.unit);
    json.member("differ", table.rows.size()).member("same", table.same).member("comparable", table.is_comparable());
    if (!table.is_comparable())
      json.member("lostBefore", table.lost_before)
          .member("lostAfter", table.lost_after)
          .member("note", loss_note(table));
    if (table.usual.methods != 0) write_usual(json, table);
    json.key("rows").begin_array();
    for (std::size_t i = 0; i < std::min(rows, table.rows.size()); ++i) {
      const DiffRow& row = table.rows[i];
      json.begin_object().member("name", row.name).member("before", row.before.amount);
      json.member("after", row.after.amount).member("change", row.change());
      if (table.has_shares())
        json.member("shareBefore", row.before.amount / table.all_before.amount)
            .member("shareAfter", row.after.amount / table.all_after.amount);
      if (table.usual.applies()) json.member("differs", row.differs);
      json.member("timesBefore", row.before.count).member("timesAfter", row.after.count);
      if (callers != nullptr) write_callers(json, callers->of(row.name));
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

// Stacks of both, merged from the outermost frame on.
struct BothTree {
  struct Node {
    std::uint32_t parent = 0, name = 0;
    double before = 0, after = 0;  // with the children's
    double either = 0;             // so much room it needs for the greater of both, frame by frame
  };
  std::vector<Node> nodes{Node{}};
  std::vector<std::string> names{"all"};
  std::unordered_map<std::string, std::uint32_t> name_ids;
  std::unordered_map<std::uint64_t, std::uint32_t> children;

  void add(const StackProfile& profile, double scale, double Node::*weight) {
    for (const auto& [stack, amount] : profile.stacks) {
      std::uint32_t node = 0;
      nodes[node].*weight += amount * scale;
      for (const std::string_view frame : split(stack, ';')) {
        const auto [name, is_new] = name_ids.try_emplace(std::string(frame), names.size());
        if (is_new) names.emplace_back(frame);
        const auto [child, fresh] = children.try_emplace(std::uint64_t{node} << 32 | name->second, nodes.size());
        if (fresh) nodes.push_back({.parent = node, .name = name->second});
        node = child->second;
        nodes[node].*weight += amount * scale;
      }
    }
  }
  void fill_either() {
    std::vector<double> before(nodes.size()), after(nodes.size());  // of the children
    for (std::size_t i = nodes.size(); i-- > 0;) {
      Node& node = nodes[i];
      node.either += std::max(node.before - before[i], node.after - after[i]);
      if (i == 0) break;
      before[node.parent] += node.before;
      after[node.parent] += node.after;
      nodes[node.parent].either += node.either;
    }
  }
  // Frames with less in both are not shown.
  double threshold() const {
    if (nodes.size() <= kPageFrames) return 0;
    std::vector<double> most;
    for (const Node& node : nodes) most.push_back(std::max(node.before, node.after));
    std::nth_element(most.begin(), most.begin() + kPageFrames, most.end(), std::greater<>());
    return most[kPageFrames];
  }
};

std::uint64_t rounded(double amount) { return static_cast<std::uint64_t>(std::llround(amount)); }

// `weights`: the four of a node, as the page numbers them.
template <class Head, class Weights>
void write_tree(JsonWriter& json, const BothTree& tree, Head head, Weights weights) {
  const double least = tree.threshold();
  json.key("flame").begin_object().member("note", "");
  head();
  json.member("frames", tree.nodes.size() - 1).member("folded", 0).key("nodes").begin_array();
  std::unordered_map<std::uint32_t, std::size_t> place;
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const BothTree::Node& node = tree.nodes[i];
    if (std::max(node.before, node.after) < least) continue;  // its children have no more
    place.emplace(i, place.size());
    json.value(place[node.parent]).value(node.name).value(0);
    for (const std::uint64_t weight : weights(node)) json.value(weight);
  }
  json.end_array().key("names").begin_array();
  for (const std::string& name : tree.names) json.value(name);
  json.end_array().end_object();
}

void write_flame(JsonWriter& json, const Difference& difference) {
  const StackProfile& before = difference.before->stacks;
  const StackProfile& after = difference.after->stacks;
  if (before.stacks.empty() || after.stacks.empty() || before.unit != after.unit) return;
  BothTree tree;
  tree.add(before, 1, &BothTree::Node::before);
  // Where events were lost, shares are compared.
  const double scale =
      difference.is_comparable || after.total() <= 0 ? difference.scale : before.total() / after.total();
  tree.add(after, scale, &BothTree::Node::after);
  tree.fill_either();
  write_tree(
      json, tree, [&] { json.member("source", "jtrace diff").member("diff", before.unit); },
      [](const BothTree::Node& node) {
        // after, before, either
        return std::array{rounded(node.after), rounded(node.before), rounded(node.either), std::uint64_t{0}};
      });
}

void write_flame(JsonWriter& json, const StackProfile& profile) {
  BothTree tree;
  tree.add(profile, 1, &BothTree::Node::after);
  write_tree(
      json, tree, [&] { json.member("source", "a profile"); },
      [&](const BothTree::Node& node) {
        // wall, cpu, bytes, samples
        const std::uint64_t weight = rounded(node.after);
        return std::array{profile.unit == "ns" ? weight : 0, std::uint64_t{0}, profile.unit == "bytes" ? weight : 0,
                          profile.unit == "samples" ? weight : 0};
      });
}
// `fill` writes the members of the page's one process.
template <class Fill>
std::string page_of(const std::string& title, const std::string& note, Fill fill) {
  std::string data;
  JsonWriter json(data);
  json.begin_object().member("title", title).member("version", JTRACE_VERSION).member("events", 0);
  json.member("truncated", false).member("note", note).key("faults").begin_object().end_object();
  json.key("elements").begin_array().end_array().key("processes").begin_array();
  json.begin_object().member("id", "profile").member("start", "0").member("span", 0);
  json.key("producers").begin_array().end_array();
  fill(json);
  json.end_object().end_array().end_object();
  return page_with(data);
}

// Those that have most, with what they call.
std::vector<std::pair<std::string, double>> greatest_frames(const FrameWeights& weights, std::size_t rows) {
  std::vector<std::pair<std::string, double>> frames(weights.total.begin(), weights.total.end());
  std::stable_sort(frames.begin(), frames.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (frames.size() > rows) frames.resize(rows);
  return frames;
}

}  // namespace

std::string diff_text(const Difference& difference, std::size_t rows) {
  std::string out =
      "before: " + printable(head_of(*difference.before)) + "\nafter:  " + printable(head_of(*difference.after)) + "\n";
  if (!difference.scaled_note.empty()) out += difference.scaled_note + "\n";
  if (!difference.usual_note.empty()) out += difference.usual_note + "\n";
  for (const std::string& line : difference.missing()) out += "not all is here: " + printable(line) + "\n";
  for (const std::string& line : difference.notes()) out += "note: " + printable(line) + "\n";
  const Callers callers(difference);
  for (const std::string& line : summary_lines(difference, callers)) out += line + "\n";
  for (const DiffTable& table : difference.tables) append_table(out, table, callers.find(table), rows);
  if (!difference.alone.empty()) out += "\n";
  for (const std::string& line : difference.alone) out += line + "\n";
  return out;
}

std::string diff_json(const Difference& difference, std::size_t rows) {
  std::string out;
  JsonWriter json(out);
  begin_answer(json, "diff");
  write_input(json, *difference.after);
  json.key("before");
  write_input(json, *difference.before);
  const std::vector<std::string> missing = difference.missing();
  write_missing(json, missing).key("notes").begin_array();
  for (const std::string& line : difference.notes()) json.value(line);
  json.end_array().member("scale", difference.scale).member("scaled", difference.scaled_note);
  json.member("usualNote", difference.usual_note).key("summary").begin_array();
  const Callers callers(difference);
  for (const std::string& line : summary_lines(difference, callers)) json.value(line);
  json.end_array();
  json.key("alone").begin_array();
  for (const std::string& line : difference.alone) json.value(line);
  json.end_array().key("data");
  write_tables(json, difference, callers, rows);
  json.end_object();
  return out + '\n';
}

std::string diff_page(const Difference& difference) {
  std::string note = "Before: " + head_of(*difference.before) + ". After: " + head_of(*difference.after) + ".";
  if (!difference.scaled_note.empty()) note += " Lengths: " + difference.scaled_note + ".";
  if (!difference.usual_note.empty()) note += " Self time: " + difference.usual_note + ".";
  const Callers callers(difference);
  for (const std::string& line : summary_lines(difference, callers))
    note += std::string(" ") + static_cast<char>(line[0] - 'a' + 'A') + line.substr(1) + ".";
  for (const std::string& line : difference.alone) note += " " + line + ".";
  for (const std::string& line : difference.missing()) note += " Not all is here: " + line + ".";
  for (const std::string& line : difference.notes()) note += " " + line + ".";
  return page_of(difference.before->name + " and " + difference.after->name, note, [&](JsonWriter& json) {
    write_tables(json.key("diff"), difference, callers, kPageRows);
    write_flame(json, difference);
  });
}

std::string profile_page(const StackProfile& profile, const std::string& title) {
  const FrameWeights weights = weights_of(profile);
  return page_of(title, whole_text(profile.unit, profile.total()) + " in all.", [&](JsonWriter& json) {
    json.key("frames").begin_object().member("unit", profile.unit).key("rows").begin_array();
    for (const auto& [frame, total] : greatest_frames(weights, kPageRows)) {
      const auto self = weights.self.find(frame);
      json.begin_array().value(frame).value(rounded(self == weights.self.end() ? 0 : self->second));
      json.value(rounded(total)).end_array();
    }
    json.end_array().end_object();
    write_flame(json, profile);
  });
}

}  // namespace jtrace::trace::io
