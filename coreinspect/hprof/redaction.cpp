#include "coreinspect/hprof/redaction.h"

#include <algorithm>
#include <array>

#include "base/name_pattern.h"

namespace jtrace::coreinspect {
namespace {

struct Kept {
  std::string_view type, field;
};
// Numbers of entries and places in arrays, kinds and states; no hash of a content, and no counter of a program.
constexpr std::array kKept = std::to_array<Kept>({
    {"java.lang.String", "coder"},
    {"java.lang.AbstractStringBuilder", "coder"},
    {"java.lang.AbstractStringBuilder", "count"},
    {"java.lang.Thread", "tid"},
    {"java.lang.Thread", "eetop"},
    {"java.lang.Thread", "priority"},
    {"java.lang.Thread", "daemon"},
    {"java.lang.Thread", "threadStatus"},
    {"java.lang.Thread$FieldHolder", "priority"},
    {"java.lang.Thread$FieldHolder", "daemon"},
    {"java.lang.Thread$FieldHolder", "threadStatus"},
    {"java.lang.VirtualThread", "state"},
    {"java.lang.ThreadLocal$ThreadLocalMap", "size"},
    {"java.lang.ThreadLocal$ThreadLocalMap", "threshold"},
    {"java.lang.ref.SoftReference", "timestamp"},
    {"java.lang.ref.SoftReference", "clock"},
    {"java.lang.ref.ReferenceQueue", "queueLength"},
    {"java.nio.Buffer", "capacity"},
    {"java.nio.DirectByteBuffer$Deallocator", "size"},
    {"java.nio.DirectByteBuffer$Deallocator", "capacity"},
    {"java.util.HashMap", "size"},
    {"java.util.HashMap", "threshold"},
    {"java.util.Hashtable", "count"},
    {"java.util.WeakHashMap", "size"},
    {"java.util.IdentityHashMap", "size"},
    {"java.util.EnumMap", "size"},
    {"java.util.TreeMap", "size"},
    {"java.util.ArrayList", "size"},
    {"java.util.Vector", "elementCount"},
    {"java.util.LinkedList", "size"},
    {"java.util.PriorityQueue", "size"},
    {"java.util.ArrayDeque", "head"},
    {"java.util.ArrayDeque", "tail"},
    {"java.util.ImmutableCollections$SetN", "size"},
    {"java.util.ImmutableCollections$MapN", "size"},
    {"java.util.concurrent.PriorityBlockingQueue", "size"},
    {"java.util.concurrent.ArrayBlockingQueue", "count"},
    {"java.util.concurrent.ArrayBlockingQueue", "takeIndex"},
    {"java.util.concurrent.ArrayBlockingQueue", "putIndex"},
    {"java.util.concurrent.LinkedBlockingQueue", "capacity"},
    {"java.util.concurrent.LinkedBlockingDeque", "count"},
    {"java.util.concurrent.LinkedBlockingDeque", "capacity"},
    {"java.util.concurrent.ConcurrentHashMap", "baseCount"},
    {"java.util.concurrent.ConcurrentHashMap", "sizeCtl"},
    {"java.util.concurrent.ConcurrentHashMap$CounterCell", "value"},
});

bool is_named(std::string_view name, std::string_view dotted) {
  return std::equal(name.begin(), name.end(), dotted.begin(), dotted.end(),
                    [](char a, char b) { return a == b || (a == '/' && b == '.'); });
}

}  // namespace

bool stays_redacted(std::string_view class_name, std::string_view field) {
  return std::any_of(kKept.begin(), kKept.end(),
                     [&](const Kept& each) { return each.field == field && is_named(class_name, each.type); });
}

Result<KeptFields> KeptFields::of(const std::vector<std::string>& patterns) {
  KeptFields kept;
  for (const std::string& each : patterns) {
    auto mark = each.find('#');
    if (mark == each.npos) mark = each.rfind('.');
    if (mark == each.npos || mark == 0 || mark + 1 == each.size() || each.find(',') != each.npos)
      return fail(ErrorCategory::kUsage, "not a field of a class: " + each,
                  "CLASS.FIELD as refs, strings and waste print it, with * and ? for parts of it");
    kept.fields_.push_back({.type = each.substr(0, mark), .field = each.substr(mark + 1)});
  }
  return kept;
}

KeptFields KeptFields::of_text(std::string_view text) {
  std::vector<std::string> patterns;
  while (!text.empty()) {
    const auto end = std::min(text.find(", "), text.size());
    patterns.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return of(patterns).value_or(KeptFields());
}

bool KeptFields::Field::matches(std::string_view class_name, std::string_view name) const {
  if (!matches_pattern(field, name)) return false;
  if (class_name.find('/') == class_name.npos) return matches_pattern(type, class_name);
  std::string dotted(class_name);
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  return matches_pattern(type, dotted);
}

bool KeptFields::keeps(std::string_view class_name, std::string_view field) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const Field& each) { return each.matches(class_name, field); });
}

std::string KeptFields::unmatched(const std::vector<std::pair<std::string, std::string>>& class_and_field) const {
  for (const Field& each : fields_)
    if (std::none_of(class_and_field.begin(), class_and_field.end(),
                     [&](const auto& known) { return each.matches(known.first, known.second); }))
      return each.type + "." + each.field;
  return "";
}

bool KeptFields::has_all_of(const KeptFields& others) const {
  return std::all_of(others.fields_.begin(), others.fields_.end(), [&](const Field& each) {
    return std::find(fields_.begin(), fields_.end(), each) != fields_.end();
  });
}

std::string KeptFields::text() const {
  std::string text;
  for (const Field& each : fields_) text += (text.empty() ? "" : ", ") + each.type + "." + each.field;
  return text;
}

}  // namespace jtrace::coreinspect
