#include "coreinspect/oops/java_collections.h"

#include <algorithm>

namespace jtrace::coreinspect {
namespace {

constexpr std::uint32_t kMaxBuckets = 1u << 22;
constexpr int kMaxChain = 1 << 16;

// A bucket is a list of nodes; a tree bin has such a list from `first` on.
std::size_t walk_bucket(const ObjectModel& objects, Address node, const std::function<void(Address)>& take) {
  if (const auto klass = objects.klass_of(node); klass && objects.classes().find_field(*klass, "first"))
    node = objects.reference(node, "first").value_or(0);
  for (int steps = 0; node != 0 && steps < kMaxChain; ++steps) {
    take(node);
    const auto next = objects.reference(node, "next");
    if (!next) return 1;
    node = *next;
  }
  return 0;
}

}  // namespace

Result<std::size_t> for_each_map_node(const ObjectModel& objects, Address map,
                                      const std::function<void(Address node)>& take) {
  JTRACE_ASSIGN_OR_RETURN(const Address buckets, objects.reference(map, "table"));
  std::size_t unreadable = 0;
  if (buckets == 0) return unreadable;  // the table is allocated for the first entry
  JTRACE_ASSIGN_OR_RETURN(const auto length, objects.array_length(buckets));
  for (std::uint32_t i = 0; i < std::min(length, kMaxBuckets); ++i) {
    const auto node = objects.element(buckets, i);
    if (!node) ++unreadable;
    else if (*node != 0) unreadable += walk_bucket(objects, *node, take);
  }
  return unreadable;
}

Result<Address> mirror_of(const ObjectModel& objects, Address klass) {
  return objects.root_field(klass, "Klass", "_java_mirror");
}

Result<Address> static_reference(const ObjectModel& objects, Address klass, std::string_view field) {
  JTRACE_ASSIGN_OR_RETURN(const JavaField found, objects.classes().find_field(klass, field));
  if (!found.is_static()) return fail(ErrorCategory::kMalformed, std::string(field) + " is not a static field");
  JTRACE_ASSIGN_OR_RETURN(const Address mirror, mirror_of(objects, klass));
  return objects.load(mirror + found.offset);
}

}  // namespace jtrace::coreinspect
