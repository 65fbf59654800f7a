#include "coreinspect/tools/properties.h"

#include <algorithm>

namespace jtrace::coreinspect {
namespace {

constexpr std::uint32_t kMaxBuckets = 1u << 22;
constexpr int kMaxChain = 1 << 16;

// One bucket: java.util.Hashtable$Entry (8) or ConcurrentHashMap$Node, whose tree bins keep a list from `first` on.
void read_bucket(const ObjectModel& objects, Address node, const char* value_field, PropertyTable& table) {
  if (const auto klass = objects.klass_of(node); klass && objects.classes().find_field(*klass, "first")) {
    const auto first = objects.reference(node, "first");
    node = first.value_or(0);
  }
  for (int steps = 0; node != 0 && steps < kMaxChain; ++steps) {
    const auto key = objects.text_field(node, "key");
    const auto value = objects.text_field(node, value_field);
    if (key && value) table.entries.emplace_back(*key, *value);
    else ++table.unreadable;
    node = objects.reference(node, "next").value_or(0);
  }
}

}  // namespace

Result<Address> mirror_of(const ObjectModel& objects, Address klass) {
  return objects.root_field(klass, "Klass", "_java_mirror");
}

Result<Address> static_reference(const ObjectModel& objects, Address klass, std::string_view field) {
  JTRACE_ASSIGN_OR_RETURN(const JavaField found, objects.classes().find_field(klass, field));
  if (!found.is_static()) return fail(ErrorCategory::kMalformed, std::string(field) + " is not a static field");
  JTRACE_ASSIGN_OR_RETURN(const Address mirror, mirror_of(objects, klass));
  return objects.load(mirror + found.offset);
}

Result<PropertyTable> read_system_properties(const ObjectModel& objects) {
  JTRACE_ASSIGN_OR_RETURN(const auto classes, objects.classes().find("java/lang/System"));
  JTRACE_ASSIGN_OR_RETURN(const Address properties, static_reference(objects, classes.front(), "props"));
  if (properties == 0) return fail(ErrorCategory::kNotAttachable, "this JVM has no system properties yet");
  const bool hashtable = objects.classes().vm().feature() < 9;
  Address map = properties;
  if (!hashtable) {
    JTRACE_ASSIGN_OR_RETURN(map, objects.reference(properties, "map"));
  }
  JTRACE_ASSIGN_OR_RETURN(const Address buckets, objects.reference(map, "table"));
  JTRACE_ASSIGN_OR_RETURN(const auto length, objects.array_length(buckets));
  PropertyTable table;
  for (std::uint32_t i = 0; i < std::min(length, kMaxBuckets); ++i) {
    const auto node = objects.element(buckets, i);
    if (!node) ++table.unreadable;
    else if (*node != 0) read_bucket(objects, *node, hashtable ? "value" : "val", table);
  }
  std::sort(table.entries.begin(), table.entries.end());
  return table;
}

}  // namespace jtrace::coreinspect
