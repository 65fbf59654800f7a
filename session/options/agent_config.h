// The payload of Start: what the agent is to do (trace/record/control.h, Config). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/options/options.h"

namespace jtrace::session {

// Addresses in the JVM of 8-byte counters (hsperfdata) whose sums are the heap's figures; empty: the agent asks
// Runtime.
struct HeapCounters {
  std::vector<std::uint64_t> used;
  std::vector<std::uint64_t> committed;
};

std::string encode_start(const TraceOptions& options, const HeapCounters& counters);

}  // namespace jtrace::session
