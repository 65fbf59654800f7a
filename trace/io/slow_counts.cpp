#include "trace/io/slow_counts.h"

#include <algorithm>

namespace jtrace::trace::io {

std::optional<std::uint64_t> counted_calls(const ScopeStatistics& statistics, std::uint64_t method) {
  const auto found = statistics.methods.find(method);
  if (found == statistics.methods.end() || !found->second.has_count) return std::nullopt;
  return found->second.counted;
}

std::uint64_t quick_calls(const ScopeStatistics& statistics, std::uint64_t method) {
  const std::uint64_t counted = counted_calls(statistics, method).value_or(0);
  if (statistics.scope->losses.any()) return 0;
  const auto times = statistics.slow.methods().find(method);
  const std::uint64_t recorded = times == statistics.slow.methods().end() ? 0 : times->second.count();
  return counted - std::min<std::uint64_t>(counted, recorded + statistics.threads.size());
}

}  // namespace jtrace::trace::io
