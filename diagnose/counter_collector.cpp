#include <thread>

#include "diagnose/collectors.h"
#include "perfdata/derived.h"
#include "perfdata/gc_causes.h"

namespace jtrace::diagnose {
namespace {

// Its pauses are within the safepoints; of its collections, degenerated and full ones among them, only the sum is
// known.
void add_shenandoah(const perfdata::Snapshot& snapshot, CounterFact& fact) {
  fact.gc_seconds = perfdata::derived_value("safepoint.time", snapshot, nullptr);
  if (const auto count = snapshot.long_value("sun.gc.collector.1.invocations"))
    fact.full_collections = fact.collections = static_cast<double>(*count);
}

}  // namespace

Result<CounterFact> CounterCollector::read() {
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
  if (const auto size = snapshot.long_value("sun.gc.compressedclassspace.capacity"))
    fact.class_space_committed = static_cast<double>(*size);
  fact.collections = value("gc.count");
  if (perfdata::counts_phases(snapshot)) add_shenandoah(snapshot, fact);
  fact.uptime = value("uptime");
  fact.gc_cause = snapshot.text_value("sun.gc.lastCause").value_or("");
  fact.threads_live = value("threads.live");
  if (const auto count = snapshot.long_value("java.threads.started"))
    fact.threads_started = static_cast<double>(*count);
  if (const auto count = snapshot.long_value("sun.rt.safepoints")) fact.safepoints = static_cast<double>(*count);
  return fact;
}

Result<Publish> CounterCollector::look() {
  JTRACE_ASSIGN_OR_RETURN(const CounterFact fact, read());
  return [fact](Collected& collected) { collected.facts.counters.push_back(fact); };
}

// What cannot be read here is missed by the last look.
Result<Publish> CounterCollector::look_often(std::chrono::milliseconds between, std::chrono::milliseconds span) {
  const auto end = std::chrono::steady_clock::now() + span;
  std::vector<CounterFact> facts;
  while (std::chrono::steady_clock::now() < end) {
    auto fact = read();
    if (!fact) break;
    facts.push_back(std::move(*fact));
    std::this_thread::sleep_for(between);
  }
  return [facts](Collected& collected) {
    collected.facts.counters.insert(collected.facts.counters.end(), facts.begin(), facts.end());
  };
}

}  // namespace jtrace::diagnose
