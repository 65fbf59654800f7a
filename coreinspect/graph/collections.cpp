#include "coreinspect/graph/collections.h"

#include <array>

namespace jtrace::coreinspect {
namespace {

struct Known {
  std::string_view name, size, array;  // the class, its fields; "" where it has none
};
// Fields by JDK are equal from 8 to 27 here.
constexpr std::array<Known, 14> kKnown = {{
    {"java.util.HashMap", "size", "table"},
    {"java.util.Hashtable", "count", "table"},
    {"java.util.WeakHashMap", "size", "table"},
    {"java.util.IdentityHashMap", "size", "table"},
    {"java.util.EnumMap", "size", "vals"},
    {"java.util.TreeMap", "size", ""},
    {"java.util.ArrayList", "size", "elementData"},
    {"java.util.Vector", "elementCount", "elementData"},
    {"java.util.LinkedList", "size", ""},
    {"java.util.PriorityQueue", "size", "queue"},
    {"java.util.concurrent.PriorityBlockingQueue", "size", "queue"},
    {"java.util.concurrent.LinkedBlockingDeque", "count", ""},
    {"java.util.concurrent.LinkedBlockingQueue", "count", ""},  // an AtomicInteger
    {"java.util.concurrent.CopyOnWriteArrayList", "", "array"},
}};
constexpr std::uint64_t kMostCells = 4096;  // of a ConcurrentHashMap: one for each processor at most

}  // namespace

Collections::Collections(const ObjectGraph& graph) : graph_(graph), fields_(graph), plans_(graph.classes().size()) {
  for (std::uint32_t i = 0; i < plans_.size(); ++i) plans_[i] = plan_of(i);
}

Collections::Plan Collections::plan_of(std::uint32_t number) const {
  if (fields_.is_a(number, "java.util.ArrayDeque")) {
    Plan plan{.kind = Kind::kRing, .array = fields_.find(number, "elements")};
    plan.head = fields_.find(number, "head");
    plan.tail = fields_.find(number, "tail");
    return plan.array && plan.head && plan.tail ? plan : Plan();
  }
  if (fields_.is_a(number, "java.util.concurrent.ConcurrentHashMap")) {
    Plan plan{.kind = Kind::kConcurrent, .size = fields_.find(number, "baseCount")};
    plan.array = fields_.find(number, "table");
    plan.cells = fields_.find(number, "counterCells");
    return plan.size && plan.array ? plan : Plan();
  }
  // From 9 on Properties keeps its entries in a map of its own.
  if (fields_.is_a(number, "java.util.Properties") && fields_.find(number, "map")) return {};
  for (const Known& known : kKnown) {
    if (!fields_.is_a(number, known.name)) continue;
    Plan plan{.kind = known.name.ends_with("IdentityHashMap") ? Kind::kPairs : Kind::kSized};
    if (known.size.empty()) plan.kind = Kind::kFull;
    else plan.size = fields_.find(number, known.size);
    if (plan.size && plan.size->type == 2) plan.kind = Kind::kAtomic;
    if (!known.array.empty()) plan.array = fields_.find(number, known.array);
    return (plan.size || known.size.empty()) && (plan.array || known.array.empty()) ? plan : Plan();
  }
  return {};
}

std::uint64_t Collections::concurrent_size(std::uint32_t object, const Plan& plan) const {
  std::uint64_t size = fields_.number(object, plan.size).value_or(0);
  const std::uint32_t cells = fields_.reference(object, plan.cells);
  for (std::uint64_t i = 0, count = std::min(fields_.length(cells), kMostCells); i < count; ++i)
    size += fields_.number(fields_.element(cells, i), "value").value_or(0);
  return size;
}

std::optional<CollectionState> Collections::read(std::uint32_t object) const {
  if (object == kNoObject || !is_collection(object)) return std::nullopt;
  const Plan& plan = plans_[graph_.class_of(object)];
  CollectionState state{.array = fields_.reference(object, plan.array)};
  state.slots = fields_.length(state.array);
  if (plan.kind == Kind::kPairs) state.slots /= 2;
  if (plan.kind == Kind::kFull) {
    state.size = state.slots;
  } else if (plan.kind == Kind::kConcurrent) {
    state.size = concurrent_size(object, plan);
  } else if (plan.kind == Kind::kRing) {
    const auto head = fields_.number(object, plan.head), tail = fields_.number(object, plan.tail);
    if (!head || !tail || *head > state.slots || *tail > state.slots) return std::nullopt;
    state.size = *tail >= *head ? *tail - *head : *tail + state.slots - *head;
  } else {
    const auto size = plan.kind == Kind::kAtomic ? fields_.number(fields_.reference(object, plan.size), "value")
                                                 : fields_.number(object, plan.size);
    if (!size) return std::nullopt;
    state.size = *size;
  }
  // A count that is negative, or greater than the heap could hold: the dump was taken while it changed, or is damaged.
  if (state.size > graph_.size()) return std::nullopt;
  return state;
}

}  // namespace jtrace::coreinspect
