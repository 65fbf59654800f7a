#include "trace/io/diff_callers.h"

#include <algorithm>
#include <cmath>

namespace jtrace::trace::io {
namespace {

// The innermost frame of a stack, and the next one outwards that is another.
std::pair<std::string, std::string> innermost(std::string_view stack) {
  const auto last = [&](std::string_view text) {
    const std::size_t at = text.rfind(';');
    return at == text.npos ? text : text.substr(at + 1);
  };
  const std::string_view frame = last(stack);
  while (last(stack) == frame) {
    if (stack.size() == frame.size()) return {std::string(frame), ""};
    stack.remove_suffix(frame.size() + 1);
  }
  return {std::string(frame), std::string(last(stack))};
}

}  // namespace

DiffCallers::DiffCallers(const StackProfile& before, const StackProfile& after, double scale) {
  if (before.unit != after.unit) return;
  unit_ = before.unit;
  const auto add = [&](const StackProfile& profile, double factor, double CallerShare::*amount) {
    for (const auto& [stack, weight] : profile.stacks) {
      auto [frame, caller] = innermost(stack);
      CallerShare& share = shares_[std::move(frame)][caller];
      share.caller = std::move(caller);
      share.*amount += weight * factor;
    }
  };
  add(before, 1, &CallerShare::before);
  add(after, scale, &CallerShare::after);
}

std::vector<CallerShare> DiffCallers::of(const std::string& frame) const {
  const auto found = shares_.find(frame);
  if (found == shares_.end()) return {};
  std::vector<CallerShare> callers;
  for (const auto& each : found->second) callers.push_back(each.second);
  std::stable_sort(callers.begin(), callers.end(), [](const CallerShare& a, const CallerShare& b) {
    return std::pair(std::abs(a.change()), a.before + a.after) > std::pair(std::abs(b.change()), b.before + b.after);
  });
  return callers;
}

}  // namespace jtrace::trace::io
