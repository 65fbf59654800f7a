// PoolWriter: the pool (trace/record/layout.h) as those who write into it see it: free chunks, and what happens if
// there are none. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "trace/record/layout.h"

namespace jtrace::agent {

namespace record = trace::record;

// What to do where the pool has no room.
struct FullPolicy {
  bool block = false;                            // wait for the drainer instead of dropping at once
  std::atomic<std::uint64_t> block_limit_ns{0};  // at most this long a stall
};

// The writer's view of a mapped pool; lives as long as the session.
struct PoolWriter {
  record::Pool pool;
  FullPolicy policy;
  std::uint32_t generation = 0;  // of the session: a producer with another one has no chunk here
  // Each record of a callout in the bytecode is an event of one slot: lost ones are
  // counted by their bytes. Reading them would take as long again as the callouts.
  bool one_slot_callouts = false;

  // Takes a free chunk for `producer`; -1: none. Events do not take the chunks reserved for definitions.
  std::int64_t take_chunk(std::uint32_t producer, std::uint32_t sequence, std::uint32_t tid) const;
  // Whether an event may still take a chunk.
  bool has_room() const;
  // Whether a producer whose callouts have lost events may take one (layout.h, resume_above).
  bool has_room_again() const;
  // Waits for the drainer's next pass, at most `limit_ns`.
  void wait_for_pass(std::uint64_t limit_ns) const;
  // The drainer is gone: waiting threads continue, and none waits from here on.
  void stop_waiting();
  // Events that found no room, or whose definition found none.
  void count_dropped(std::uint64_t events) const {
    pool.header().dropped_events.fetch_add(events, std::memory_order_relaxed);
  }
  // What the session's own thread is doing: for the report about a JVM that died.
  void note_work(record::AgentWork work) const {
    pool.header().agent_work.store(static_cast<std::uint32_t>(work), std::memory_order_relaxed);
  }
};

}  // namespace jtrace::agent
