#include "coreinspect/graph/holder_fields.h"

#include <algorithm>

#include "base/jdk_names.h"
#include "base/primitive_types.h"

namespace jtrace::coreinspect {

bool is_class_of_the_jdk(std::string_view name) {
  if (is_of_the_jdk(name)) return true;
  if (!is_array_name(name)) return false;
  while (is_array_name(name)) name.remove_suffix(2);
  return primitive_named(name) != nullptr;
}

HolderFields::HolderFields(const ObjectGraph& graph, const ShortestPaths& paths)
    : graph_(graph), paths_(paths), known_(graph.size(), kUnknown), fields_(kRoots + 1) {
  for (const GraphClass& each : graph.classes())
    is_passed_.push_back(is_array_name(each.name) || is_class_of_the_jdk(each.name) ? 1 : 0);
}

bool HolderFields::ends_at(std::uint32_t holder, std::uint32_t object, std::uint32_t& number) {
  const bool is_class = graph_.is_class(holder);
  if (!is_class && is_passed_[graph_.class_of(holder)] != 0) return false;
  const Field field{.subject = is_class ? holder : graph_.class_of(holder),
                    .edge = graph_.find_edge(holder, object),
                    .is_static = is_class};
  if (field.edge == kNoObject) return false;
  const auto [found, is_new] = numbers_.emplace(field, static_cast<std::uint32_t>(fields_.size()));
  if (is_new) fields_.emplace_back(field, holder);
  number = found->second;
  return true;
}

std::uint32_t HolderFields::of(std::uint32_t object) {
  std::vector<std::uint32_t> way;
  std::uint32_t number = kRoots;
  while (true) {
    if (known_[object] != kUnknown) {
      number = known_[object];
      break;
    }
    way.push_back(object);
    const std::uint32_t holder = paths_.before(object);
    if (holder == object || holder == kNoObject || ends_at(holder, object, number)) break;
    object = holder;
  }
  for (const std::uint32_t each : way) known_[each] = number;
  return number;
}

std::uint32_t HolderFields::through(std::uint32_t holder, std::uint32_t object) {
  std::uint32_t number = kRoots;
  return ends_at(holder, object, number) ? number : of(holder);
}

std::string HolderFields::name(std::uint32_t number) const {
  if (number <= kRoots) return "threads and other roots";
  const auto& [field, holder] = fields_[number];
  const std::string edge = graph_.edge_name(holder, field.edge);
  if (!field.is_static) return graph_.classes()[field.subject].name + (edge.starts_with(".") ? edge : " " + edge);
  const std::string of = graph_.name(holder).substr(std::string_view("class ").size());
  return edge.starts_with("static ") ? "static " + of + "." + edge.substr(7) : "class " + of + " " + edge;
}

std::pair<std::string, std::uint64_t> HolderSums::largest() const {
  const auto most =
      std::max_element(sums_.begin(), sums_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == sums_.end()) return {"", 0};
  return {fields_.name(most->first), most->second};
}

}  // namespace jtrace::coreinspect
