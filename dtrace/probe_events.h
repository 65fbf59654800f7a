// ProbeEvents: hits of HotSpot's probes as events of trace.dtd, in the order of time.
//
// Definitions come before their first use. threadId is java.lang.Thread's own id, if a probe (of threads, monitors,
// methods or allocations) or add_running_threads() gives it; other threads get 10^12 + inner kernel id and the name
// that the kernel has for them (15 bytes), and keep both. Classes that are loaded during the trace are distinguished by
// name and loader, others by name. Probes see the carrier of a virtual thread. Probes give objects no identity: ids of
// objAlloc are never referred to, those of monitors are valid as long as the monitor. Probes without an element are
// only counted. One thread. The sink is borrowed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "dtrace/probe_source.h"
#include "dtrace/vm_facts.h"
#include "target/process.h"
#include "trace/event_sink.h"

namespace jtrace::dtrace {

struct EventOptions {
  // Whether events of a method (class in internal form, "" for none) are wanted; if not set: all.
  std::function<bool(std::string_view class_name, std::string_view method)> wanted;
  // Facts about a class besides its name; `loader_data` 0: a class that was loaded before. If not set: none.
  std::function<std::optional<coreinspect::ClassDefinition>(std::string_view name, std::uint64_t loader_data)> class_of;
  // The text of a copied stack, for hits that have one. It becomes contextData of an objAlloc, otherwise an option
  // after the element: "PROBE THREADID TEXT".
  std::function<std::string(const CopiedStack&)> stack_text;
};

struct EventCounts {
  std::uint64_t taken = 0;                // hits of chosen probes
  std::uint64_t filtered = 0;             // rejected by EventOptions::wanted
  std::uint64_t without_element = 0;      // for which trace.dtd has no element
  std::uint64_t exits_without_entry = 0;  // of methods entered before the trace, or whose entry was lost
  std::uint64_t missing_texts = 0;        // texts that could not be read, written as "?"
  std::uint64_t cut_texts = 0;
  std::uint64_t unknown_methods = 0;  // hits of counted methods whose names are not known
};

class ProbeEvents {
 public:
  ProbeEvents(trace::EventSink& sink, const target::Process& process, const std::vector<TracedSite>& sites,
              const ClockAnchor& anchor, EventOptions options = {});

  // The threads that run already: each is defined at its first reference or, with `define`, now, at `time`.
  Result<> add_running_threads(const std::vector<EarlierThread>& threads, bool define, trace::Time time);
  Result<> write(const ProbeRecord& record);
  // Writes a methodCount for each method that the kernel has counted; for methods whose first hit was lost only the
  // number is known.
  Result<> write_counts(const std::vector<MethodHits>& hits);
  const EventCounts& counts() const { return counts_; }
  // Hits were lost: open frames and owners of monitors are not known any more.
  void forget_after_loss();

 private:
  enum class Kind : std::uint8_t {
    kOther,
    kThreadStart,
    kThreadStop,
    kClassLoaded,
    kClassUnloaded,
    kGcBegin,
    kGcEnd,
    kPoolEnd,
    kWait,
    kWaited,
    kSleep,
    kSlept,
    kContendedEnter,
    kContendedEntered,
    kContendedExit,
    kAlloc,
    kEntry,
    kReturn,
    kInitDone,
    kShutdown,
  };
  struct Frame {
    std::uint64_t method, ticket;
  };
  struct Thread {
    trace::ThreadId id;
    std::uint64_t inner = 0;  // kernel's id in the JVM's namespace
    std::string name, group;
    bool written = false;
    std::vector<Frame> frames;
    std::uint64_t ticket = 0;
    std::uint64_t wait_start = 0;  // 0: not waiting
  };
  struct Monitor {
    std::uint64_t object = 0;
    std::string class_name;
    trace::ThreadId owner;
  };
  struct Pool {
    std::uint64_t used, committed;
  };

  static Kind kind_of(const Probe& probe);
  Result<> write_element(const ProbeRecord& record, Kind kind);
  Result<> write_stack(const ProbeRecord& record);
  std::string text(const ProbeRecord& record, std::size_t operand);
  Thread& thread_of(const ProbeRecord& record, std::uint64_t java_id);
  Result<> define_thread(Thread& thread, trace::Time time);
  Result<trace::ThreadId> need_thread(const ProbeRecord& record, std::uint64_t java_id = 0);
  Result<> define_class(trace::ClassId id, const std::string& name, std::uint64_t loader_data, trace::ThreadId thread,
                        trace::Time time);
  Result<trace::ClassId> need_class(const std::string& name, const ProbeRecord& record);
  Result<std::uint64_t> need_method(const ProbeRecord& record, trace::ClassId& class_id);
  Result<Monitor*> need_monitor(const ProbeRecord& record);

  Result<> start_thread(const ProbeRecord& record, bool chosen);
  Result<> stop_thread(const ProbeRecord& record, bool chosen);
  bool is_after_end(const ProbeRecord& record, Kind kind) const;
  Result<> load_class(const ProbeRecord& record);
  Result<> unload_class(const ProbeRecord& record);
  Result<> gc(const ProbeRecord& record, Kind kind, bool chosen);
  Result<> wait(const ProbeRecord& record, Kind kind, bool chosen);
  Result<> contend(const ProbeRecord& record, Kind kind, bool chosen);
  Result<> alloc(const ProbeRecord& record);
  Result<> enter_method(const ProbeRecord& record);
  Result<> count_method(const ProbeRecord& record);
  Result<> leave_method(const ProbeRecord& record);
  template <class Element>
  Result<> runtime(const ProbeRecord& record);
  trace::Time wall(const ProbeRecord& record) const { return trace::Time(anchor_.wall_of(record.time)); }
  bool wanted(std::string_view class_name, std::string_view method = {});

  trace::EventSink& sink_;
  const target::Process& process_;
  const std::vector<TracedSite>& sites_;
  ClockAnchor anchor_;
  EventOptions options_;
  EventCounts counts_;
  std::vector<Kind> kinds_;  // by site
  std::unordered_map<std::uint32_t, Thread> threads_;
  // threadId of the java.lang.Thread that ended last, by kernel id: on its way out a thread still takes its own lock,
  // after its threadEnd, where its id means nothing any more.
  std::unordered_map<std::uint32_t, std::uint64_t> ended_;
  std::unordered_map<std::string, std::uint64_t> classes_;                 // the last one of a name
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> loaded_;  // by name and loader
  std::map<std::tuple<std::uint64_t, std::string, std::string>, std::uint64_t> methods_;
  std::map<MethodKey, std::uint64_t> counted_;  // methodId; 0: not wanted
  std::unordered_map<std::uint64_t, Monitor> monitors_;
  std::map<std::string, Pool> pools_;
  // Pairs of gc__begin and gc__end that are open. HotSpot's SvcGCMarker fires one of each, and one may be within
  // another (VM_CollectForMetadataAllocation and the collector's own): they are one pause, from the outermost pair.
  unsigned gc_depth_ = 0;
  bool gc_depth_unknown_ = false;  // hits were lost since; it is 1 then, and the next pair closes it
  bool shut_down_ = false;
  std::uint64_t next_class_ = 1, next_method_ = 1, next_object_ = 1;
};

}  // namespace jtrace::dtrace
