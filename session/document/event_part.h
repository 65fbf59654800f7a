// EventPart: the base of EventBuilder's parts. Each part makes the events of one subject from their records and keeps
// the state of that subject only. EventBuilder passes the records. One thread.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "session/document/definition_table.h"
#include "session/options/options.h"
#include "trace/event_emitter.h"
#include "trace/record/control.h"
#include "trace/record/record_kinds.h"

namespace jtrace::session {

struct BuilderOptions {
  std::uint64_t events = 0;         // EventBit: which threadStart and classDef are written without a reference to them
  bool all_loaded_classes = false;  // classDef of classes that were loaded before are written at once
  bool nested_frees = false;
  bool receivers = false;            // of calls: objIdRef and sequenceCounter
  std::uint64_t min_contention = 0;  // ns: shorter ones are counted, not written
  bool every_call = true;            // without --slower-than: no call of a traced method is left out
  bool cpu_time = false;             // of calls (on both sides) and lines: threadCpuTime
};

BuilderOptions builder_options(const TraceOptions& options);

// All borrowed.
struct BuilderContext {
  trace::EventEmitter& emitter;
  DefinitionTable& definitions;
  const ClockAnchor& anchor;
  const BuilderOptions& options;
};

// Any record, by value.
struct TimedRecord {
  alignas(16) std::byte bytes[trace::record::kLargestRecord];
  std::uint64_t thread;  // that the producer runs, as its last kThreadSwitch said; 0: none did
  bool is_virtual;       // that thread
  const trace::record::RecordHeader& header() const {
    return reinterpret_cast<const trace::record::RecordHeader&>(*this);
  }
  template <class T>
  const T& as() const {
    return reinterpret_cast<const T&>(*this);
  }
};

class EventPart {
 protected:
  explicit EventPart(const BuilderContext& context)
      : emitter_(context.emitter),
        definitions_(context.definitions),
        anchor_(context.anchor),
        options_(context.options) {}
  trace::Time wall(std::uint64_t monotonic) const { return trace::Time(anchor_.wall_of(monotonic)); }
  bool traces(std::uint64_t event) const { return (options_.events & event) != 0; }

  trace::EventEmitter& emitter_;
  DefinitionTable& definitions_;
  const ClockAnchor& anchor_;
  const BuilderOptions& options_;
};

}  // namespace jtrace::session
