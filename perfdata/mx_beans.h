// MxBeans: what the platform MXBeans of a JVM say (MemoryPoolMXBean, GarbageCollectorMXBean, ThreadMXBean,
// ClassLoadingMXBean), from its counters, by the beans' names.
//
// A value is left out where the counter can differ from the bean:
//   used       a space that fills between collections while its counter does not move: eden of Serial and Parallel from
//              JDK 25 on, all of ZGC, Metaspace. The counter of Serial's, Parallel's and CMS's old generation has no
//              array that was too large for eden until the next collection
//   committed  ZGC, whose generations give memory to each other, and Shenandoah
//   max        eden and survivor spaces (G1 has none, Parallel moves it)
//   beans      the cycles of ZGC and CMS, all of Shenandoah; the pools of the code cache; those of generational
//              Shenandoah, which has counters of the whole heap only
//
// The names are those of JDK 8 to 27, compared with the beans of running JVMs. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

struct PoolBean {  // of the heap; bytes
  std::string_view name;
  std::optional<std::int64_t> used, committed, max;
};

struct CollectorBean {
  std::string_view name;
  std::string_view action;  // GarbageCollectionNotificationInfo.getGcAction()
  int collector = 0;        // N of sun.gc.collector.N
  std::int64_t count = 0;   // that have ended
  double seconds = 0;
  bool concurrent = false;  // phases of concurrent cycles
};

struct MxBeans {
  std::vector<PoolBean> pools;
  std::vector<CollectorBean> collectors;
  bool lacks_pauses = false;  // those of CMS and Shenandoah: their beans are not in `collectors`
  std::optional<std::int64_t> heap_used, heap_committed, heap_max;  // MemoryMXBean; bytes
  std::optional<std::int64_t> threads, daemon_threads, peak_threads, started_threads;
  std::optional<std::int64_t> loaded_classes, unloaded_classes;  // since the start
  std::optional<double> compilation_seconds;
  std::optional<double> start_seconds;   // since the epoch
  std::optional<double> uptime_seconds;  // at the snapshot

  std::optional<std::int64_t> classes() const;  // that are loaded
};
MxBeans mx_beans(const Snapshot& snapshot);

}  // namespace jtrace::perfdata
