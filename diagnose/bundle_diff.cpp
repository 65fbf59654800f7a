#include "diagnose/bundle_diff.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/json_answer.h"
#include "base/strings.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr double kLeastBytes = 1 << 20;  // of a change that is shown
constexpr std::size_t kRows = 15;

BundleName name_of(const BundleFile& bundle) {
  const JsonValue& target = bundle.manifest()["target"];
  const JsonValue& pid = target["pid"];
  return {.path = bundle.path(),
          .host = target["host"].text(),
          .created = bundle.manifest()["created"].text(),
          .pid = pid.is(JsonValue::Kind::kNumber) ? std::optional(static_cast<long>(pid.number())) : std::nullopt};
}

// "4711 on db7, 2026-11-24T02:10:11Z"
std::string name_text(const BundleName& name) {
  std::string out = name.pid ? std::to_string(*name.pid) : "a process of " + printable(name.path);
  if (!name.host.empty()) out += " on " + printable(name.host);
  if (!name.created.empty()) out += ", " + printable(name.created);
  return out;
}

bool is_same_process(const JsonValue& a, const JsonValue& b) {
  return a["pid"].number() == b["pid"].number() && a["bootId"].text() == b["bootId"].text() &&
         a["startTicks"].number() == b["startTicks"].number() && a.has("startTicks");
}

// A finding is the same one if its rule and the names in its sentence are: numbers change.
std::string key_of(const JsonValue& finding) {
  std::string key = finding["rule"].text();
  const auto parts = split(finding["sentence"].text(), '"');
  for (std::size_t i = 1; i < parts.size(); i += 2) key.append("\"").append(parts[i]);
  return key;
}

Result<JsonValue> findings_of(const BundleFile& bundle) {
  JTRACE_ASSIGN_OR_RETURN(JsonValue document, bundle.json("findings.json"));
  const auto is_finding = [](const JsonValue& each) {
    using Kind = JsonValue::Kind;
    return each["rule"].is(Kind::kText) && each["sentence"].is(Kind::kText) && each["confidence"].is(Kind::kText);
  };
  const JsonValue& all = document["data"];
  if (!all.is(JsonValue::Kind::kArray) || !std::all_of(all.items().begin(), all.items().end(), is_finding))
    return fail(ErrorCategory::kMalformed, "findings.json of " + bundle.path() + " has no list of findings");
  return document;
}

void compare_findings(const JsonValue& before, const JsonValue& after, BundleDiff& diff) {
  std::set<std::string> old_keys, new_keys;
  for (const JsonValue& each : before["data"].items()) old_keys.insert(key_of(each));
  for (const JsonValue& each : after["data"].items()) {
    const bool stays = old_keys.count(key_of(each)) > 0;
    new_keys.insert(key_of(each));
    (stays ? diff.stay : diff.fresh).push_back(printable(each["sentence"].text()));
    diff.found = diff.found || (!stays && each["confidence"].text() != "hint");
  }
  for (const JsonValue& each : before["data"].items())
    if (new_keys.count(key_of(each)) == 0) diff.gone.push_back(printable(each["sentence"].text()));
}

using Amounts = std::map<std::string, double>;

std::vector<Growth> changes(const Amounts& before, const Amounts& after, double least) {
  std::map<std::string, Growth> rows;
  for (const auto& [name, amount] : before) rows[name].before = amount;
  for (const auto& [name, amount] : after) rows[name].after = amount;
  std::vector<Growth> out;
  for (auto& [name, row] : rows) {
    row.name = printable(name);
    if (std::abs(row.grown()) >= least) out.push_back(row);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Growth& a, const Growth& b) { return std::abs(a.grown()) > std::abs(b.grown()); });
  out.resize(std::min(out.size(), kRows));
  return out;
}

// "worker-12" and "worker-7" are threads of one kind.
std::string kind_of(const std::string& name) {
  std::string kind;
  for (const char c : name) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) kind += c;
    else if (kind.empty() || kind.back() != 'N') kind += 'N';
  }
  return kind;
}

// The amounts of a view, where both bundles have it.
bool read_both(const BundleFile& before, const BundleFile& after, const std::string& view, BundleDiff& diff,
               const std::function<void(const JsonValue&, Amounts&)>& add, Amounts& old_rows, Amounts& new_rows) {
  const std::string member = "views/" + view + ".json";
  for (const auto& [bundle, rows] : {std::pair{&before, &old_rows}, std::pair{&after, &new_rows}}) {
    const auto document = bundle->json(member);
    if (!document) {
      diff.missing.push_back(view + ": " + document.error().message());
      return false;
    }
    for (const JsonValue& each : (*document)["data"].items()) add(each, *rows);
  }
  return true;
}

void compare_flags(const BundleFile& before, const BundleFile& after, BundleDiff& diff) {
  const auto old_flags = before.json("views/flags.json"), new_flags = after.json("views/flags.json");
  if (!old_flags || !new_flags) return;
  std::map<std::string, std::string> values;
  const auto text_of_flag = [](const JsonValue& flag) {
    const JsonValue& value = flag["value"];
    if (value.is(JsonValue::Kind::kBool)) return std::string(value.truth() ? "true" : "false");
    if (!value.is(JsonValue::Kind::kNumber)) return printable(value.text());
    const double number = value.number();
    if (number == std::floor(number) && std::abs(number) < 1e15) return std::to_string(static_cast<long long>(number));
    std::string text;
    JsonWriter(text).value(number);
    return text;
  };
  for (const JsonValue& each : (*old_flags)["data"].items()) values[each["name"].text()] = text_of_flag(each);
  for (const JsonValue& each : (*new_flags)["data"].items()) {
    const auto found = values.find(each["name"].text());
    const std::string now = text_of_flag(each);
    if (found != values.end() && found->second != now)
      diff.flags.push_back({printable(found->first), found->second, now});
  }
}

void compare_views(const BundleFile& before, const BundleFile& after, BundleDiff& diff) {
  Amounts old_rows, new_rows;
  const auto add_thread = [](const JsonValue& each, Amounts& rows) { ++rows[kind_of(each["name"].text())]; };
  if (read_both(before, after, "threads", diff, add_thread, old_rows, new_rows)) {
    for (const auto& [name, count] : old_rows) diff.threads.before += count;
    for (const auto& [name, count] : new_rows) diff.threads.after += count;
    diff.names = changes(old_rows, new_rows, 1);
  }
  old_rows.clear(), new_rows.clear();
  const auto add_part = [](const JsonValue& each, Amounts& rows) {
    rows[each["part"].text()] += each["resident"].number();
  };
  if (read_both(before, after, "memory", diff, add_part, old_rows, new_rows))
    diff.memory = changes(old_rows, new_rows, kLeastBytes);
  old_rows.clear(), new_rows.clear();
  const auto add_class = [](const JsonValue& each, Amounts& rows) {
    rows[each["class"].text()] += each["bytes"].number();
  };
  if (read_both(before, after, "histogram", diff, add_class, old_rows, new_rows))
    diff.classes = changes(old_rows, new_rows, kLeastBytes);
}

void append_list(std::string& out, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  out.append(title).append(":\n");
  for (const std::string& line : lines) out += "  " + line + "\n";
}

std::string row_text(const Growth& row, double unit, const char* format) {
  char text[96];
  std::snprintf(text, sizeof text, format, row.grown() / unit, row.before / unit, row.after / unit);
  return text + row.name;
}

void append_rows(std::string& out, std::string_view title, const std::vector<Growth>& rows, double unit,
                 const char* format) {
  std::vector<std::string> lines;
  for (const Growth& row : rows) lines.push_back(row_text(row, unit, format));
  append_list(out, title, lines);
}

void write_name(JsonWriter& json, const BundleName& name) {
  json.begin_object().member("kind", "bundle").member("path", name.path);
  if (name.pid) json.member("pid", *name.pid);
  if (!name.host.empty()) json.member("host", name.host);
  if (!name.created.empty()) json.member("created", name.created);
  json.end_object();
}

void write_findings(JsonWriter& json, std::string_view change, const std::vector<std::string>& sentences) {
  for (const std::string& each : sentences)
    json.begin_object().member("kind", "finding").member("change", change).member("sentence", each).end_object();
}

void write_rows(JsonWriter& json, std::string_view kind, const std::vector<Growth>& rows) {
  for (const Growth& row : rows)
    json.begin_object()
        .member("kind", kind)
        .member("name", row.name)
        .member("before", row.before)
        .member("after", row.after)
        .end_object();
}

}  // namespace

Result<BundleDiff> compare(const BundleFile& before, const BundleFile& after) {
  BundleDiff diff{.before = name_of(before), .after = name_of(after)};
  const auto nanos = [](const BundleFile& bundle) {
    return bundle.manifest()["clock"]["end"]["realtimeNanos"].number();
  };
  diff.seconds = (nanos(after) - nanos(before)) / 1e9;
  diff.same_process = is_same_process(before.manifest()["target"], after.manifest()["target"]);
  JTRACE_ASSIGN_OR_RETURN(const JsonValue old_findings, findings_of(before));
  JTRACE_ASSIGN_OR_RETURN(const JsonValue new_findings, findings_of(after));
  compare_findings(old_findings, new_findings, diff);
  compare_views(before, after, diff);
  compare_flags(before, after, diff);
  return diff;
}

std::string text_of(const BundleDiff& diff) {
  constexpr const char* kMib = "%+10.1f MiB  %10.1f -> %-10.1f  ";
  std::string out = "Before: " + name_text(diff.before) + "\nAfter:  " + name_text(diff.after) + "\n";
  out += diff.same_process ? "The same process, " + seconds(diff.seconds) + " later.\n\n"
                           : "Two different processes, " + seconds(diff.seconds) + " apart.\n\n";
  append_list(out, "New", diff.fresh);
  append_list(out, "Gone", diff.gone);
  append_list(out, "Still there", diff.stay);
  if (diff.fresh.empty() && diff.gone.empty() && diff.stay.empty()) out += "Nothing was found in either.\n";
  char threads[96];
  std::snprintf(threads, sizeof threads, "Threads: from %.0f to %.0f (%+.0f).\n", diff.threads.before,
                diff.threads.after, diff.threads.grown());
  out += threads;
  append_rows(out, "Threads by name", diff.names, 1, "%+6.0f  %6.0f -> %-6.0f  ");
  append_rows(out, "Memory by part, in RSS", diff.memory, 1 << 20, kMib);
  append_rows(out, "Heap by class", diff.classes, 1 << 20, kMib);
  std::vector<std::string> flags;
  for (const FlagChange& each : diff.flags) flags.push_back(each.name + ": " + each.before + " -> " + each.after);
  append_list(out, "Flags", flags);
  append_list(out, "Not compared", diff.missing);
  return out;
}

std::string json_of(const BundleDiff& diff) {
  std::string out;
  JsonWriter json(out);
  begin_answer(json, "diagnose diff");
  write_name(json, diff.after);
  write_name(json.key("before"), diff.before);
  write_missing(json, diff.missing).member("sameProcess", diff.same_process).member("seconds", diff.seconds);
  json.key("threads").begin_object().member("before", diff.threads.before).member("after", diff.threads.after);
  json.end_object().key("data").begin_array();
  write_findings(json, "new", diff.fresh);
  write_findings(json, "gone", diff.gone);
  write_findings(json, "stays", diff.stay);
  write_rows(json, "threads", diff.names);
  write_rows(json, "memory", diff.memory);
  write_rows(json, "class", diff.classes);
  for (const FlagChange& each : diff.flags)
    json.begin_object()
        .member("kind", "flag")
        .member("name", each.name)
        .member("before", each.before)
        .member("after", each.after)
        .end_object();
  json.end_array().end_object();
  return out + "\n";
}

}  // namespace jtrace::diagnose
