// Equal strings and equal arrays: sorted by a hash of their contents, and compared where it is the same.
#include <algorithm>
#include <cstring>

#include "coreinspect/graph/content_hash.h"
#include "coreinspect/graph/waste_rules.h"

namespace jtrace::coreinspect {
namespace {

constexpr char kCounted = 2;  // of of_strings: several strings may have one array
constexpr std::size_t kExamples = 10, kExampleLength = 60;

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

struct Hashed {
  std::uint64_t hash;
  std::uint32_t object, array;  // the same, but for a string
};

std::span<const std::byte> content(const ObjectGraph& graph, std::uint32_t array) {
  const HprofObject record = graph.record(array);
  return graph.file().bytes(record.body, record.end - record.body);
}

// visit(equal): those that are equal, two or more, in the order of their addresses.
template <class Equal, class Visit>
void each_group(std::vector<Hashed>& all, Equal&& equal, Visit&& visit) {
  std::sort(all.begin(), all.end(),
            [](const Hashed& a, const Hashed& b) { return std::pair(a.hash, a.object) < std::pair(b.hash, b.object); });
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first + 1;
    while (end < all.size() && all[end].hash == all[first].hash) ++end;
    std::vector<Hashed> same(all.begin() + static_cast<std::ptrdiff_t>(first),
                             all.begin() + static_cast<std::ptrdiff_t>(end));
    std::erase_if(same, [&](const Hashed& each) { return !equal(same.front(), each); });
    if (same.size() > 1) visit(same);
    first = end;
  }
}

class DuplicateStrings {
 public:
  explicit DuplicateStrings(WasteSearch& search) : search_(search), graph_(search.graph), sum_(search) {}

  void find() {
    const auto& classes = graph_.classes();
    const auto string =
        std::find_if(classes.begin(), classes.end(), [](const auto& each) { return each.name == "java.lang.String"; });
    if (string == classes.end()) return;
    number_ = static_cast<std::uint32_t>(string - classes.begin());
    coder_ = search_.fields.find(number_, "coder");
    std::vector<Hashed> all = hashed();
    each_group(
        all, [&](const Hashed& a, const Hashed& b) { return are_equal(a, b); },
        [&](const std::vector<Hashed>& same) { add(same); });
    sum_.finish("duplicate strings", "java.lang.String", examples());
  }

 private:
  struct Group {
    std::uint64_t bytes, objects;
    std::uint32_t first;
  };
  std::uint64_t coder(std::uint32_t string) const { return search_.fields.number(string, coder_).value_or(0); }
  std::vector<Hashed> hashed() {
    const auto value = search_.fields.find(number_, "value");
    std::vector<Hashed> all;
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      if (graph_.class_of(i) != number_ || !search_.counts(i)) continue;
      const std::uint32_t array = search_.fields.reference(i, value);
      if (!search_.fields.is_array(array)) continue;
      search_.of_strings[array] = 1;
      all.push_back({content_hash(content(graph_, array), coder(i)), i, array});
    }
    return all;
  }
  bool are_equal(const Hashed& a, const Hashed& b) const {
    const auto one = content(graph_, a.array), other = content(graph_, b.array);
    return a.array == b.array ||
           (coder(a.object) == coder(b.object) && std::equal(one.begin(), one.end(), other.begin(), other.end()));
  }
  void add(const std::vector<Hashed>& same) {
    search_.of_strings[same.front().array] = kCounted;
    Group group{.bytes = 0, .objects = same.size(), .first = same.front().object};
    for (std::size_t i = 1; i < same.size(); ++i) {
      std::uint64_t bytes = graph_.bytes(same[i].object);
      if (std::exchange(search_.of_strings[same[i].array], kCounted) != kCounted) bytes += graph_.bytes(same[i].array);
      group.bytes += bytes;
      sum_.add(same[i].object, bytes);
    }
    largest_.push_back(group);
    if (largest_.size() > 100 * kExamples) keep_largest();
  }
  void keep_largest() {
    std::stable_sort(largest_.begin(), largest_.end(),
                     [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
    if (largest_.size() > kExamples) largest_.resize(kExamples);
  }
  std::vector<WasteExample> examples() {
    keep_largest();
    std::vector<WasteExample> found;
    for (const Group& each : largest_)
      found.push_back({search_.fields.text(each.first, kExampleLength), each.objects, each.bytes});
    return found;
  }

  WasteSearch& search_;
  const ObjectGraph& graph_;
  WasteSum sum_;
  std::uint32_t number_ = 0;
  std::optional<ObjectFields::Place> coder_;
  std::vector<Group> largest_;
};

}  // namespace

void find_duplicate_strings(WasteSearch& search) { DuplicateStrings(search).find(); }

void find_wasted_arrays(WasteSearch& search) {
  const ObjectGraph& graph = search.graph;
  std::map<std::uint32_t, WasteSum> zeros, empty, equal;  // by class number
  std::map<std::uint32_t, std::uint64_t> empty_before;
  const auto add = [&](auto& sums, std::uint32_t object) {
    sums.try_emplace(graph.class_of(object), search).first->second.add(object, graph.bytes(object));
  };
  std::vector<Hashed> all;
  const bool redacted = graph.file().is_redacted();
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    if (!search.counts(i) || search.of_strings[i] != 0 || !search.fields.is_array(i)) continue;
    const auto bytes = content(graph, i);
    if (bytes.empty()) {
      if (empty_before[graph.class_of(i)]++ > 0) add(empty, i);
    } else if (!redacted && graph.record(i).kind == HprofSub::kPrimitiveArrayDump) {
      if (bytes.size() >= kZeros && is_zero(bytes)) add(zeros, i);
      else all.push_back({content_hash(bytes, graph.class_of(i)), i, i});
    }
  }
  each_group(
      all,
      [&](const Hashed& a, const Hashed& b) {
        const auto one = content(graph, a.array), other = content(graph, b.array);
        return graph.class_of(a.object) == graph.class_of(b.object) &&
               std::equal(one.begin(), one.end(), other.begin(), other.end());
      },
      [&](const std::vector<Hashed>& same) {
        for (std::size_t i = 1; i < same.size(); ++i) add(equal, same[i].object);
      });
  for (auto& [number, sum] : equal) sum.finish("duplicate arrays", graph.classes()[number].name);
  for (auto& [number, sum] : zeros) sum.finish("arrays of zeros", graph.classes()[number].name);
  for (auto& [number, sum] : empty) sum.finish("empty arrays", graph.classes()[number].name);
}

}  // namespace jtrace::coreinspect
