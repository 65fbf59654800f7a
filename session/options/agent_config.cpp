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

void append_causes(std::string& bytes, const HeapCounters::Causes& causes) {
  append(bytes, causes.cause);
  append(bytes, causes.last_cause);
  append(bytes, causes.uncounted);
  append(bytes, static_cast<std::uint8_t>(causes.used_before));
  append(bytes, static_cast<std::uint32_t>(causes.spaces.size()));
  for (const HeapCounters::Causes::Space& space : causes.spaces) {
    append(bytes, space.bottom);
    append(bytes, space.top);
  }
  append(bytes, static_cast<std::uint32_t>(causes.collectors.size()));
  for (const HeapCounters::Causes::Collector& collector : causes.collectors) {
    append(bytes, static_cast<std::uint32_t>(collector.kind));
    append(bytes, collector.invocations);
    append(bytes, collector.last_entry);
    append(bytes, collector.last_exit);
  }
}

}  // namespace

std::string encode_counters(const HeapCounters& counters) {
  std::string bytes;
  append_addresses(bytes, counters.used);
  append_addresses(bytes, counters.committed);
  append_causes(bytes, counters.causes);
  return bytes;
}

std::string encode_start(const TraceOptions& options, const HeapCounters& counters) {
  namespace record = trace::record;
  std::uint32_t flags = 0;
#define START_FLAG(bit, Name, member, ...) \
  if (options.member) flags |= record::k##Name;
#define START_CHOICE(bit, Name, member, ...) START_FLAG(bit, Name, member)
#include "trace/record/start_options.def"
  std::string bytes;
  append(bytes, record::kControlVersion);
  append(bytes, options.events);
  append(bytes, flags);
#define START_VALUE(type, Name, member, ...) append<type>(bytes, options.member);
#include "trace/record/start_options.def"
  bytes += encode_counters(counters);
  return bytes + encode_filter_rules(options.filters);
}

}  // namespace jtrace::session
