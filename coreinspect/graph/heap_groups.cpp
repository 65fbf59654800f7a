#include "coreinspect/graph/heap_groups.h"

#include <unordered_map>

#include "coreinspect/graph/object_fields.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kNameLength = 200;  // of a loader or thread

// "java.util.Map$Entry[]": "java.util".
std::string package_of(const std::string& class_name) {
  const auto dot = class_name.rfind('.', class_name.find('/'));  // not one of a hidden class's number
  if (dot != class_name.npos) return class_name.substr(0, dot);
  return "(no package)";
}

class Groups {
 public:
  Groups(const HeapTree& tree, Grouping by)
      : tree_(tree), graph_(tree.graph()), fields_(graph_), by_(by), of_class_(graph_.classes().size(), kNoObject) {}

  std::vector<HeapGroup> make() {
    if (by_ == Grouping::kThread) add_threads();
    else add_classes();
    const auto sums = tree_.by_group(of_class_, of_object_, groups_.size());
    for (std::size_t i = 0; i < sums.size(); ++i) groups_[i].sum = sums[i];
    std::erase_if(groups_, [](const HeapGroup& each) { return each.sum.objects == 0; });
    return std::move(groups_);
  }

 private:
  std::uint32_t group(const std::string& key, const std::string& name) {
    const auto [at, fresh] = numbers_.try_emplace(key, static_cast<std::uint32_t>(groups_.size()));
    if (fresh) groups_.push_back({.name = name});
    return at->second;
  }
  void add_threads() {
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      if (!graph_.is_thread(i)) continue;
      const std::string name = fields_.text(fields_.reference(i, "name"), kNameLength);
      add_member(group(std::to_string(i), name), i);
    }
  }
  void add_classes() {
    for (std::uint32_t i = 0; i < of_class_.size(); ++i) {
      const GraphClass& its = graph_.classes()[i];
      of_class_[i] = by_ == Grouping::kPackage ? group_of_package(its.name) : group_of_loader(i);
      if (its.object != kNoObject) of_object_[its.object] = of_class_[i];
    }
  }
  std::uint32_t group_of_package(const std::string& class_name) {
    const std::string name = package_of(class_name);
    return group(name, name);
  }
  std::uint32_t group_of_loader(std::uint32_t class_number) {
    const HprofClass* record = graph_.class_record(class_number);
    const std::uint32_t loader = record == nullptr || record->loader == 0 ? kNoObject : graph_.find(record->loader);
    if (loader == kNoObject) return group("", "boot loader");
    if (const auto known = of_object_.find(loader); known != of_object_.end()) return known->second;
    const std::string name = loader_name(loader);
    const std::uint32_t number = group(by_ == Grouping::kLoader ? std::to_string(loader) : name, name);
    add_member(number, loader);
    return number;
  }
  void add_member(std::uint32_t number, std::uint32_t object) {
    of_object_[object] = number;
    groups_[number].object = ++groups_[number].members == 1 ? object : kNoObject;
  }
  // From 11 on a loader may have a name: "app".
  std::string loader_name(std::uint32_t loader) const {
    const std::uint32_t name = fields_.reference(loader, "name");
    const std::string text = name == kNoObject || graph_.file().is_redacted() ? "" : fields_.text(name, kNameLength);
    return (text.empty() ? "" : "'" + text + "' ") + graph_.name(loader);
  }

  const HeapTree& tree_;
  const ObjectGraph& graph_;
  const ObjectFields fields_;
  const Grouping by_;
  std::vector<HeapGroup> groups_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::uint32_t> of_class_;                         // the group of the instances; kNoObject: none
  std::unordered_map<std::uint32_t, std::uint32_t> of_object_;  // what is in another group than its class's instances
};

}  // namespace

std::vector<HeapGroup> heap_groups(const HeapTree& tree, Grouping by) { return Groups(tree, by).make(); }

}  // namespace jtrace::coreinspect
