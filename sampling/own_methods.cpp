#include "sampling/own_methods.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/jdk_names.h"

namespace jtrace::sampling {
namespace {

// The classes that the JVM makes for lambdas only pass the call on.
bool is_own(const ProfileCounts& counts, std::uint32_t name) {
  const std::string_view method = counts.names()[name];
  // Stubs have names without a dot.
  return counts.kinds()[name] == ProfileCounts::Kind::kJava && method.find('.') != std::string_view::npos &&
         !is_of_the_jdk(method) && method.find("$$Lambda") == std::string_view::npos;
}

using Callers = std::map<std::uint32_t, std::uint64_t>;

OwnMethod method_of(std::uint32_t name, std::uint64_t samples, const Callers& callers) {
  OwnMethod method{.name = name, .samples = samples, .callers = {}};
  for (const auto& [caller, times] : callers) method.callers.push_back({caller, times});
  std::stable_sort(method.callers.begin(), method.callers.end(),
                   [](const auto& a, const auto& b) { return a.samples > b.samples; });
  return method;
}

}  // namespace

std::vector<OwnMethod> own_methods(const ProfileCounts& counts) {
  std::map<std::uint32_t, std::pair<std::uint64_t, Callers>> found;
  const auto first = static_cast<std::ptrdiff_t>(counts.thread_at() + 1);
  for (const auto& [stack, count] : counts.stacks()) {
    if (static_cast<std::ptrdiff_t>(stack.size()) <= first) continue;
    const auto outermost = stack.rend() - first;
    const auto innermost = std::find_if(stack.rbegin(), outermost, [&](auto each) { return is_own(counts, each); });
    if (innermost == outermost) continue;
    auto& [samples, callers] = found[*innermost];
    samples += count.samples;
    // A method that calls itself is called from outside.
    const auto caller =
        std::find_if(innermost + 1, outermost, [&](auto each) { return each != *innermost && is_own(counts, each); });
    if (caller != outermost) callers[*caller] += count.samples;
  }
  std::vector<OwnMethod> methods;
  for (const auto& [name, each] : found) methods.push_back(method_of(name, each.first, each.second));
  std::stable_sort(methods.begin(), methods.end(), [](const auto& a, const auto& b) { return a.samples > b.samples; });
  return methods;
}

}  // namespace jtrace::sampling
