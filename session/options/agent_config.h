// The payload of Start: what the agent is to do (trace/record/control.h, Config). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/options/options.h"
#include "trace/record/event_record.h"

namespace jtrace::session {

// Addresses in the JVM of 8-byte counters (hsperfdata) whose sums are the heap's figures; empty: the agent asks
// Runtime.
struct HeapCounters {
  // Where the JVM says what its collections are for (trace/record/control.h); 0, empty: nowhere.
  struct Causes {
    std::uint64_t cause = 0, last_cause = 0;
    std::uint32_t uncounted = 0;  // kinds of a collection that none of these counts
    bool used_before = false;     // `used` is right when a pause begins
    // Otherwise: the words with the bottom and the top of each space; what lies between them is used. Without a bottom
    // (0) the other is a number of bytes. Empty: not known.
    struct Space {
      std::uint64_t bottom, top;
    };
    std::vector<Space> spaces;
    struct Collector {
      trace::record::CollectionKind kind;
      std::uint64_t invocations, last_entry, last_exit;
    };
    std::vector<Collector> collectors;
  };
  std::vector<std::uint64_t> used;
  std::vector<std::uint64_t> committed;
  Causes causes = {};
};

// The payload of Counters.
std::string encode_counters(const HeapCounters& counters);
std::string encode_start(const TraceOptions& options, const HeapCounters& counters);

}  // namespace jtrace::session
