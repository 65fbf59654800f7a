// Accumulation points: from the roots down the tree of dominators, as long as single objects keep a large part.
#include <algorithm>
#include <array>

#include "base/jdk_names.h"
#include "base/strings.h"
#include "coreinspect/graph/leak_rules.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kDeepest = 1000;                   // steps down; Eclipse MAT stops there too
constexpr std::size_t kMostCounted = 1'000'000;  // entries whose classes are looked at
constexpr std::size_t kClassesShown = 3;
constexpr double kLargeRest = 0.3;  // of what a node keeps, besides its large parts

bool is_inner(const std::string& name) {
  return name.starts_with("java.util.") && name.find('$') != name.npos && !is_array_name(name);
}

class Accumulations {
 public:
  explicit Accumulations(LeakSearch& search) : search_(search), tree_(search.tree), graph_(search.graph) {}

  void find() {
    std::vector<Open> open = {{kNoObject, kNoObject, 0}};
    while (!open.empty()) {
      const Open node = open.back();
      open.pop_back();
      for (const std::uint32_t child : visit(node))
        open.push_back({child, node.object == kNoObject ? child : node.top, node.depth + 1});
    }
    search_.report.looked_at.push_back(std::to_string(large_) + (large_ == 1 ? " object keeps " : " objects keep ") +
                                       std::to_string(search_.much) + " bytes or more");
  }

 private:
  struct Open {
    std::uint32_t object, top;
    int depth;
  };
  struct Structure {
    std::vector<std::uint32_t> nodes, others;  // of one class; large ones of other classes below them
  };

  std::vector<std::uint32_t> large_children(std::uint32_t object) const {
    auto children = tree_.largest(object, static_cast<std::size_t>(1 / search_.limits.share) + 1);
    std::erase_if(children, [&](std::uint32_t child) { return tree_.retained(child) < search_.much; });
    return children;
  }
  // Where to continue.
  std::vector<std::uint32_t> visit(const Open& node) {
    auto children = large_children(node.object);
    if (node.object == kNoObject) return children;
    ++large_;
    if (node.depth > kDeepest) {
      add(node.top, tree_.dominated(node.top), false);
      return {};
    }
    if (Structure structure = structure_from(node.object); structure.nodes.size() >= search_.limits.entries) {
      add(node.object, structure.nodes, true);
      return structure.others;
    }
    std::uint64_t rest = tree_.retained(node.object);
    for (const std::uint32_t child : children) rest -= tree_.retained(child);
    const auto all = static_cast<double>(tree_.retained(node.object));
    const bool ends = children.empty() || (rest >= search_.much && static_cast<double>(rest) >= kLargeRest * all);
    if (ends && accumulates(node.object) && !is_shared_below(node.object))
      add(node.object, tree_.dominated(node.object), false);
    return children;
  }
  // A list or a tree: the object and what it dominates of its own class, and so on.
  Structure structure_from(std::uint32_t object) const {
    Structure found{.nodes = {object}, .others = {}};
    if (graph_.is_class(object) || search_.fields.is_array(object)) return found;
    for (std::size_t i = 0; i < found.nodes.size(); ++i)
      for (const std::uint32_t child : tree_.dominated(found.nodes[i])) {
        if (graph_.class_of(child) == graph_.class_of(object)) found.nodes.push_back(child);
        else if (tree_.retained(child) >= search_.much) found.others.push_back(child);
      }
    return found;
  }
  bool accumulates(std::uint32_t object) const {
    if (graph_.bytes(object) >= search_.much) return true;
    if (search_.fields.is_array(object)) return tree_.dominated(object).size() > 1;
    if (!graph_.is_class(object) && search_.fields.is_a(graph_.class_of(object), "java.lang.ClassLoader")) return false;
    return tree_.dominated(object).size() >= search_.limits.entries;
  }
  // What an object keeps whose fields each keep only a part, it keeps because several fields hold the same objects.
  bool is_shared_below(std::uint32_t object) {
    if (search_.fields.is_array(object) || search_.collections.read(object)) return false;
    return find_groups_below(search_, object);
  }
  // The collection that an array or a node is part of: it keeps it alone, or a frame that works on the collection has
  // the array too.
  std::uint32_t container_of(std::uint32_t object) const {
    const std::uint32_t alone = container_of(object, [&](std::uint32_t at) { return tree_.dominator(at); });
    if (alone != object) return alone;
    return container_of(object, [&](std::uint32_t at) {
      const std::uint32_t before = search_.paths.before(at);
      return before == at ? kNoObject : before;
    });
  }
  template <class Above>
  std::uint32_t container_of(std::uint32_t object, const Above& above) const {
    for (std::uint32_t at = object; at != kNoObject && !graph_.is_class(at); at = above(at)) {
      const std::string& name = graph_.classes()[graph_.class_of(at)].name;
      if (is_inner(name) || is_array_name(name)) continue;
      return at != object && (name.starts_with("java.util.") || is_bounded_map(at)) ? at : object;
    }
    return object;
  }
  // A class of the program that extends LinkedHashMap: what is added to that is removeEldestEntry, in nearly all.
  bool is_bounded_map(std::uint32_t object) const {
    if (graph_.is_class(object) || search_.fields.is_array(object)) return false;
    const std::uint32_t number = graph_.class_of(object);
    return !is_of_the_jdk(graph_.classes()[number].name) && search_.fields.is_a(number, "java.util.LinkedHashMap");
  }
  void add(std::uint32_t object, const std::vector<std::uint32_t>& entries, bool is_structure);
  // "one java.util.HashMap with 20000 entries".
  std::string named(std::uint32_t container, std::uint32_t object, std::uint64_t entries, bool is_structure) const {
    const std::string name = graph_.name(container), count = std::to_string(entries);
    if (container == object && is_structure) return "a structure of " + count + " " + name;
    if (container == object && search_.fields.is_array(object))
      return "one " + name + " of " + counted(search_.fields.length(object), "element");
    if (graph_.is_class(container)) return "the static fields of " + name + " with " + counted(entries, "object");
    return "one " + name + (entries == 0 ? "" : " with " + counted(entries, "entry", "entries"));
  }
  // "" if it is the holder, or there is none: the way to many things leads through threads and registries.
  std::string field_of(std::uint32_t container, const std::string& holder) {
    if (graph_.is_class(container)) return "";
    const std::uint32_t field = search_.holder_fields.of(container);
    const std::string name = HolderFields::is_of_root(field) ? "" : printable(search_.holder_fields.name(field));
    return name == holder ? "" : name;
  }
  // The field of the program says most; a thread is where the way to it happens to begin.
  static std::string held_by(const LeakSuspect& suspect) {
    if (suspect.field.empty()) return suspect.holder;
    return suspect.field + (suspect.holder.starts_with("static ") ? " of " + suspect.holder : "");
  }
  // A large array is named itself, and not the collection that has it and little else.
  std::uint32_t named_for(std::uint32_t object) const {
    const std::uint32_t container = container_of(object);
    if (container == object || graph_.bytes(object) < search_.much) return container;
    const auto state = search_.collections.read(container);
    return state && state->size < search_.limits.entries ? object : container;
  }
  // One that stays as it is: what grows gets another array, and that is known of few classes.
  bool is_one_array(std::uint32_t object) const {
    constexpr std::array<std::string_view, 4> growing = {"java.lang.AbstractStringBuilder",
                                                         "java.io.ByteArrayOutputStream", "java.io.CharArrayWriter",
                                                         "java.util.BitSet"};
    const std::uint32_t holder = search_.paths.before(object);
    if (graph_.is_class(object) || !search_.fields.is_array(object)) return false;
    if (graph_.record(object).kind != HprofSub::kPrimitiveArrayDump) return false;
    return graph_.is_class(holder) || std::none_of(growing.begin(), growing.end(), [&](std::string_view each) {
             return search_.fields.is_a(graph_.class_of(holder), each);
           });
  }
  void describe_classes(const std::vector<std::uint32_t>& entries, bool is_structure, LeakSuspect& suspect) const;
  // What an entry is about: itself, or what a collection's node keeps.
  std::uint32_t meant(std::uint32_t entry) const {
    if (!is_node(entry)) return entry;
    for (const std::uint32_t child : tree_.largest(entry, 3))
      if (graph_.class_of(child) != graph_.class_of(entry)) return child;
    return entry;
  }
  bool is_node(std::uint32_t entry) const {
    return !graph_.is_class(entry) && is_inner(graph_.classes()[graph_.class_of(entry)].name);
  }
  // With the nodes of a hash table that are below another node of the same bucket.
  std::vector<std::uint32_t> with_chains(const std::vector<std::uint32_t>& entries) const {
    std::vector<std::uint32_t> all;
    for (const std::uint32_t entry : entries) {
      if (all.size() > kMostCounted) break;
      if (!is_node(entry)) {
        all.push_back(entry);
        continue;
      }
      const auto chain = structure_from(entry).nodes;
      all.insert(all.end(), chain.begin(), chain.end());
    }
    return all;
  }
  // Without what a chain's next node keeps.
  std::uint64_t bytes_of(std::uint32_t entry, bool is_structure) const {
    std::uint64_t bytes = tree_.retained(entry);
    if (is_structure)
      for (const std::uint32_t child : tree_.dominated(entry))
        if (graph_.class_of(child) == graph_.class_of(entry)) bytes -= tree_.retained(child);
    return bytes;
  }

  LeakSearch& search_;
  const HeapTree& tree_;
  const ObjectGraph& graph_;
  std::uint64_t large_ = 0;
};

void Accumulations::describe_classes(const std::vector<std::uint32_t>& entries, bool is_structure,
                                     LeakSuspect& suspect) const {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> classes;  // bytes, objects
  const std::vector<std::uint32_t> all = is_structure ? entries : with_chains(entries);
  const std::size_t count = std::min(all.size(), kMostCounted);
  for (std::size_t i = 0; i < count; ++i) {
    auto& [bytes, objects] = classes[graph_.name(meant(all[i]))];
    bytes += bytes_of(all[i], is_structure || is_node(all[i]));
    ++objects;
  }
  std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::string>> sorted;
  for (const auto& [name, sum] : classes) sorted.emplace_back(sum, name);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (sorted.size() > kClassesShown) sorted.resize(kClassesShown);
  for (const auto& [sum, name] : sorted)
    suspect.evidence.push_back(std::to_string(sum.second) + " " + name + " among them keep " +
                               std::to_string(sum.first) + " bytes");
  if (count < all.size())
    suspect.evidence.push_back("the classes are of the first " + counted(count, "entry", "entries"));
}

void Accumulations::add(std::uint32_t object, const std::vector<std::uint32_t>& entries, bool is_structure) {
  const std::uint32_t container = named_for(object);
  const std::string name = graph_.name(container);
  const auto state = search_.collections.read(container);
  LeakSuspect suspect{.kind = "accumulation",
                      .object = container,
                      .retained = std::max(tree_.retained(container), tree_.retained(object))};
  auto& suspects = search_.report.suspects;
  // A container has several parts, a queue's references are a list.
  if (std::any_of(suspects.begin(), suspects.end(), [&](const LeakSuspect& each) {
        return each.object == container ||
               (each.kind == "reference queue" && tree_.dominator(container) == each.object) ||
               (each.kind == "finalizer queue" && name.ends_with("java.lang.ref.Finalizer"));
      }))
    return;
  suspect.of = name;
  suspect.holder = graph_.is_class(container) ? "several static fields" : search_.held.holder(container);
  suspect.entries = state ? state->size : entries.size();
  suspect.field = field_of(container, suspect.holder);
  suspect.sentence = named(container, object, suspect.entries, is_structure);
  suspect.sentence += (graph_.is_class(container) ? " keep " : ", held by " + held_by(suspect) + ", keeps ") +
                      search_.part(suspect.retained);
  describe_classes(entries, is_structure, suspect);
  suspect.may_be_bounded = is_bounded_map(container);
  suspect.is_one_array = is_one_array(container);
  if (suspect.may_be_bounded)
    suspect.evidence.push_back("it extends java.util.LinkedHashMap, as caches do that have a bound: it may not grow");
  suspect.evidence.push_back("the way to it: " + search_.held.path(container));
  suspects.push_back(std::move(suspect));
}

}  // namespace

void find_accumulations(LeakSearch& search) { Accumulations(search).find(); }

}  // namespace jtrace::coreinspect
