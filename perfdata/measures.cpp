#include "perfdata/measures.h"

#include <numeric>

#include "perfdata/wrapping.h"

namespace jtrace::perfdata {
namespace {

using Samples = std::vector<Sample>;

template <class Number>
Samples one(const std::optional<Number>& value) {
  return value ? Samples{{{}, *value}} : Samples();
}

Samples of_pools(const NamedJvm& jvm, std::optional<std::int64_t> PoolBean::*member) {
  Samples samples;
  const auto add = [&](const std::vector<PoolBean>& pools, std::string_view area) {
    for (const PoolBean& each : pools)
      if (each.*member)
        samples.push_back(
            {{{Attribute::kArea, std::string(area)}, {Attribute::kPool, std::string(each.name)}}, *(each.*member)});
  };
  add(jvm.beans.pools, kHeap);
  add(jvm.inner.code_heaps, kNonHeap);
  return samples;
}

Samples of_heap(const std::optional<std::int64_t>& value) {
  Samples samples = one(value);
  for (Sample& each : samples) each.attributes = {{Attribute::kHeapArea, std::string(kHeap)}};
  return samples;
}

Sample of_collector(const CollectorBean& bean, decltype(Sample::value) value) {
  return {{{Attribute::kCollector, std::string(bean.name)}, {Attribute::kAction, std::string(bean.action)}},
          std::move(value)};
}

Samples collections(const NamedJvm& jvm) {
  Samples samples;
  for (const CollectorBean& each : jvm.beans.collectors)
    samples.push_back(of_collector(each, Summary{each.count, each.seconds}));
  return samples;
}

struct Causes {
  bool concurrent = false, longest = false;
};
Samples by_cause(const NamedJvm& jvm, Causes which) {
  Samples samples;
  if (jvm.durations == nullptr) return samples;
  for (const CollectorBean& bean : jvm.beans.collectors) {
    if (bean.concurrent != which.concurrent) continue;
    for (const GcDurations::OfCause& each : jvm.durations->by_cause(bean.collector)) {
      if (which.longest && !each.longest) continue;
      Sample sample = of_collector(bean, Summary{each.count, each.seconds});
      if (which.longest) sample.value = *each.longest;
      sample.attributes.emplace_back(Attribute::kCause, each.cause);
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

Samples pauses(const NamedJvm& jvm) {
  Samples samples;
  if (jvm.durations == nullptr) return samples;
  for (const CollectorBean& each : jvm.beans.collectors)
    samples.push_back(of_collector(each, jvm.durations->of(each.collector)));
  return samples;
}

Samples threads_by_state(const NamedJvm& jvm) {
  Samples samples;
  if (!has_states(jvm)) return samples;
  for (std::size_t i = 0; i < kThreadStates.size(); ++i)
    samples.push_back({{{Attribute::kState, std::string(kThreadStates[i])}},
                       jvm.inner.threads->user[i] + jvm.inner.threads->daemon[i]});
  return samples;
}

// Of a JVM that does not let its structures be read they never come.
bool needs_states(const NamedJvm& jvm) {
  return jvm.asks_inner && !(jvm.inner.problem && exit_status(*jvm.inner.problem) == ExitStatus::kPermission);
}

// With and without states are different series: a server that gets both for a while adds them up.
Samples threads_by_daemon(const NamedJvm& jvm) {
  const auto &all = jvm.beans.threads, &daemons = jvm.beans.daemon_threads;
  Samples samples;
  if (!all || !daemons || (needs_states(jvm) && !has_states(jvm))) return samples;
  for (const bool daemon : {false, true}) {
    Sample sample{{{Attribute::kDaemon, daemon ? "true" : "false"}},
                  daemon ? *daemons : wrapping_difference(*all, *daemons)};
    if (!has_states(jvm)) {
      samples.push_back(std::move(sample));
      continue;
    }
    const ThreadsByState& states = daemon ? jvm.inner.threads->daemon : jvm.inner.threads->user;
    for (std::size_t i = 0; i < kThreadStates.size(); ++i) {
      samples.push_back({sample.attributes, states[i]});
      samples.back().attributes.emplace_back(Attribute::kState, std::string(kThreadStates[i]));
    }
  }
  return samples;
}

Samples of_buffers(const NamedJvm& jvm, std::int64_t BufferFigures::*member) {
  if (!jvm.inner.direct_buffers) return {};
  return {{{{Attribute::kBuffer, "direct"}}, (*jvm.inner.direct_buffers).*member}};
}

std::optional<double> millis(const std::optional<double>& seconds) {
  return seconds ? std::optional(*seconds * 1000) : std::nullopt;
}

// Of a JVM with pauses that no histogram has, their number would say less than it seems to.
std::optional<std::int64_t> missed(const NamedJvm& jvm) {
  if (jvm.durations == nullptr || jvm.beans.collectors.empty() || jvm.beans.lacks_pauses) return std::nullopt;
  std::int64_t sum = 0;
  for (const CollectorBean& each : jvm.beans.collectors) sum = wrapping_sum(sum, jvm.durations->missed(each.collector));
  return sum;
}

}  // namespace

bool has_states(const NamedJvm& jvm) {
  if (!jvm.inner.threads || !jvm.beans.threads || !jvm.beans.daemon_threads) return false;
  const auto sum = [](const ThreadsByState& states) {
    return std::accumulate(states.begin(), states.end(), std::int64_t{0});
  };
  const std::int64_t daemons = sum(jvm.inner.threads->daemon);
  return daemons == *jvm.beans.daemon_threads && daemons + sum(jvm.inner.threads->user) == *jvm.beans.threads;
}

std::vector<Sample> samples_of(const NamedJvm& jvm, Measure measure) {
  const MxBeans& beans = jvm.beans;
  switch (measure) {
    case Measure::kPoolUsed: return of_pools(jvm, &PoolBean::used);
    case Measure::kPoolCommitted: return of_pools(jvm, &PoolBean::committed);
    case Measure::kPoolMax: return of_pools(jvm, &PoolBean::max);
    case Measure::kHeapUsed: return of_heap(beans.heap_used);
    case Measure::kHeapCommitted: return of_heap(beans.heap_committed);
    case Measure::kHeapMax: return of_heap(beans.heap_max);
    case Measure::kCollections: return collections(jvm);
    case Measure::kCollectionsByCause: return by_cause(jvm, {});
    case Measure::kLongestByCause: return by_cause(jvm, {.longest = true});
    case Measure::kConcurrentByCause: return by_cause(jvm, {.concurrent = true});
    case Measure::kLongestConcurrentByCause: return by_cause(jvm, {.concurrent = true, .longest = true});
    case Measure::kPauses: return pauses(jvm);
    case Measure::kMissedPauses: return one(missed(jvm));
    case Measure::kThreads: return one(beans.threads);
    case Measure::kDaemonThreads: return one(beans.daemon_threads);
    case Measure::kThreadsByDaemon: return threads_by_daemon(jvm);
    case Measure::kThreadsByState: return threads_by_state(jvm);
    case Measure::kPeakThreads: return one(beans.peak_threads);
    case Measure::kStartedThreads: return one(beans.started_threads);
    case Measure::kClasses: return one(beans.classes());
    case Measure::kLoadedClasses: return one(beans.loaded_classes);
    case Measure::kUnloadedClasses: return one(beans.unloaded_classes);
    case Measure::kCompilationSeconds: return one(beans.compilation_seconds);
    case Measure::kCompilationMillis: return one(millis(beans.compilation_seconds));
    case Measure::kCpuSeconds: return one(jvm.process.cpu_seconds);
    case Measure::kStart: return one(beans.start_seconds);
    case Measure::kUptime: return one(beans.uptime_seconds);
    case Measure::kResident: return one(jvm.process.resident_bytes);
    case Measure::kVirtual: return one(jvm.process.virtual_bytes);
    case Measure::kOpenFiles: return one(jvm.process.open_files);
    case Measure::kMaxFiles: return one(jvm.process.max_files);
    case Measure::kBuffers: return of_buffers(jvm, &BufferFigures::count);
    case Measure::kBufferCapacity: return of_buffers(jvm, &BufferFigures::capacity);
    case Measure::kBufferUsed: return of_buffers(jvm, &BufferFigures::used);
  }
  return {};
}

}  // namespace jtrace::perfdata
