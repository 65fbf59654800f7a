#include "trace/io/allocation_places.h"

#include <algorithm>
#include <set>

#include "base/class_names.h"
#include "base/jdk_names.h"

namespace jtrace::trace::io {

void Allocated::add(const AllocationWeight& weight) {
  objects += weight.objects;
  bytes += weight.bytes;
  ++elements;
}

void Allocated::add(const Allocated& other) {
  objects += other.objects;
  bytes += other.bytes;
  elements += other.elements;
}

std::string frame_text(std::string_view frame) {
  std::string text(frame);
  std::replace(text.begin(), text.end(), '/', '.');
  return text;
}

std::string_view program_frames(std::string_view stack) {
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find(';'), stack.size());
    if (!is_of_the_jdk(frame_text(stack.substr(0, end)))) return stack.substr(0, stack.find(';', end + 1));
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return stack;
}

std::uint32_t AllocationPlaces::id_of(std::string_view word) {
  if (const auto found = ids_.find(word); found != ids_.end()) return found->second;
  const auto made = ids_.emplace(word, static_cast<std::uint32_t>(words_.size())).first;
  words_.push_back(&made->first);
  return made->second;
}

void AllocationPlaces::add(std::string_view type, std::string_view stack, std::uint64_t thread,
                           const AllocationWeight& weight) {
  has_stacks_ = has_stacks_ || !stack.empty();
  if (places_.size() >= kMaxPlaces && !stack.empty() && ids_.find(stack) == ids_.end()) stack = kOtherStacks;
  places_[{id_of(type), id_of(stack), thread}].add(weight);
}

std::vector<std::string> AllocationPlaces::all_classes() const {
  std::set<std::string> names;
  for (const auto& place : places_) names.insert(*words_[std::get<0>(place.first)]);
  return {names.begin(), names.end()};
}

Result<std::vector<std::string>> AllocationPlaces::classes(const std::string& wanted) const {
  std::vector<std::string> names = all_classes();
  if (wanted.empty()) return names;
  JTRACE_ASSIGN_OR_RETURN(const auto meant, classes_meant(names, wanted, ""));
  std::vector<std::string> found;
  for (const std::size_t i : meant) found.push_back(std::move(names[i]));
  return found;
}

std::vector<bool> AllocationPlaces::chosen(const std::string& wanted) const {
  std::vector<bool> is_chosen(words_.size(), wanted.empty());
  if (const auto names = classes(wanted); !wanted.empty() && names)
    for (const std::string& name : *names) is_chosen[ids_.find(name)->second] = true;
  return is_chosen;
}

std::vector<AllocationRow> AllocationPlaces::rows(AllocationsBy by, const std::string& wanted) const {
  const std::vector<bool> is_chosen = chosen(wanted);
  std::map<std::tuple<std::string_view, std::string_view, std::uint64_t>, Allocated> sums;
  const bool with_stack = by != AllocationsBy::kClass && by != AllocationsBy::kThread;
  for (const auto& [place, amount] : places_) {
    const auto& [type_id, stack_id, thread] = place;
    const std::string_view type = *words_[type_id];
    std::string_view stack = *words_[stack_id];
    if (!is_chosen[type_id]) continue;
    if (by == AllocationsBy::kSite) stack = stack.substr(0, stack.find(';'));
    if (by == AllocationsBy::kMethod) stack = stack == kOtherStacks ? std::string_view() : program_frames(stack);
    if (with_stack && stack.empty()) continue;
    sums[{by == AllocationsBy::kThread ? "" : type, with_stack ? stack : "", by == AllocationsBy::kThread ? thread : 0}]
        .add(amount);
  }
  std::vector<AllocationRow> rows;
  for (const auto& [key, amount] : sums)
    rows.push_back({std::string(std::get<0>(key)), std::string(std::get<1>(key)), std::get<2>(key), amount});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const AllocationRow& a, const AllocationRow& b) { return a.amount.bytes > b.amount.bytes; });
  return rows;
}

bool AllocationPlaces::jdk_makes_for_program(const std::string& wanted) const {
  const std::vector<bool> is_chosen = chosen(wanted);
  return std::any_of(places_.begin(), places_.end(), [&](const auto& place) {
    const std::string_view stack = *words_[std::get<1>(place.first)], frames = program_frames(stack);
    return is_chosen[std::get<0>(place.first)] && !frames.empty() && frames.data() != stack.data();
  });
}

Allocated AllocationPlaces::total(const std::string& wanted) const {
  const std::vector<bool> is_chosen = chosen(wanted);
  Allocated sum;
  for (const auto& [place, amount] : places_)
    if (is_chosen[std::get<0>(place)]) sum.add(amount);
  return sum;
}

}  // namespace jtrace::trace::io
