#include "diagnose/collectors.h"
#include "perfdata/derived.h"

namespace jtrace::diagnose {

Result<Publish> CounterCollector::look() {
  if (!source_) {
    JTRACE_ASSIGN_OR_RETURN(source_, perfdata::CounterSource::of_process(pid_));
  }
  perfdata::Snapshot snapshot;
  JTRACE_RETURN_IF_ERROR(source_->read(snapshot));
  const auto value = [&](std::string_view name) { return perfdata::derived_value(name, snapshot, nullptr); };
  CounterFact fact{.ns = snapshot.monotonic_ns};
  fact.gc_seconds = value("gc.time");
  fact.full_collections = value("full.count");
  fact.old_used = value("old.used");
  fact.old_max = value("old.max");
  fact.metaspace_used = value("metaspace.used");
  fact.metaspace_committed = value("metaspace.capacity");
  fact.class_space_used = value("classspace.used");
  fact.collections = value("gc.count");
  fact.uptime = value("uptime");
  return [fact](Collected& collected) { collected.facts.counters.push_back(fact); };
}

}  // namespace jtrace::diagnose
