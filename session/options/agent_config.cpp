#include "session/options/agent_config.h"

#include "trace/record/control.h"

namespace jtrace::session {
namespace {

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_addresses(std::string& bytes, const std::vector<std::uint64_t>& addresses) {
  append(bytes, static_cast<std::uint32_t>(addresses.size()));
  for (const std::uint64_t address : addresses) append(bytes, address);
}

}  // namespace

std::string encode_start(const TraceOptions& options, const HeapCounters& counters) {
  namespace record = trace::record;
  std::uint32_t flags = 0;
  if (options.block_when_full) flags |= record::kBlockWhenFull;
  if (options.all_loaded_classes) flags |= record::kAllLoadedClasses;
  if (options.monitor_owner) flags |= record::kMonitorOwner;
  if (options.precise_time) flags |= record::kPreciseTime;
  if (options.arguments) flags |= record::kArguments;
  if (options.return_values) flags |= record::kReturnValues;
  if (options.receivers) flags |= record::kReceivers;
  if (options.cpu_time) flags |= record::kCpuTime;
  std::string bytes;
  append(bytes, record::kControlVersion);
  append(bytes, options.events);
  append(bytes, flags);
  append(bytes, options.block_limit_ms);
  append(bytes, options.sample_interval);
  append(bytes, options.stack_depth);
  append(bytes, options.slower_than);
  append_addresses(bytes, counters.used);
  append_addresses(bytes, counters.committed);
  return bytes + encode_filter_rules(options.filters);
}

}  // namespace jtrace::session
