#include "session/options/agent_config.h"

#include "trace/record/frame_bytes.h"

namespace jtrace::session {

std::string encode_start(const TraceOptions& options, const trace::record::CountersFields& counters) {
  namespace record = trace::record;
  record::StartFields start;
  start.version = record::kControlVersion;
  start.events = options.events;
#define START_FLAG(bit, Name, member, ...) \
  if (options.member) start.flags |= record::k##Name;
#define START_CHOICE(bit, Name, member, ...) START_FLAG(bit, Name, member)
#define START_VALUE(type, Name, member, ...) start.member = options.member;
#include "trace/record/start_options.def"
  start.counters = counters;
  const InternalRules rules(options.filters);
  start.rules = rules.fields();
  return record::frame_bytes(start);
}

}  // namespace jtrace::session
