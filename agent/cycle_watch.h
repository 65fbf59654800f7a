// CycleWatch: when a collection is over whose pauses are only a part of it (ZGC, Shenandoah). The JVM names its cause
// from its begin to its end (sun.gc.cause, ZDriver and ShenandoahGCSession), and no event tells of the end, so the
// control thread looks at it again and again as long as one runs.
//
// A collection within another (minor ones of generational ZGC while the old generation is collected) has no end of its
// own here. Two that follow each other at once for the same cause are one. One thread.
#pragma once

#include <cstdint>
#include <cstring>

#include "agent/heap_words.h"
#include "trace/record/event_record.h"

namespace jtrace::agent {

namespace record = trace::record;

class CycleWatch {
 public:
  // At the begin of the trace, or when the counters have come: of one that runs by then only a part is seen.
  void start(const record::CountersFields& causes, std::uint64_t now) {
    if (is_named(causes)) begin(causes, now, true);
  }
  enum class Look { kGoesOn, kEnded, kAnotherRuns };  // kAnotherRuns: it has ended, and the next one has begun
  // `pause`: number of the last pause that had ended before the words of `causes` are read, which may change meanwhile.
  // `now`: ns.
  Look look(const record::CountersFields& causes, std::uint32_t pause, std::uint64_t now) {
    const bool is_new = pause != pause_, named = is_named(causes), ran = runs_;
    pause_ = pause;
    if (is_new) since_ = now;
    if (runs_) {
      const bool another = named && std::strncmp(text_at(causes.cause), cause_, sizeof cause_) != 0 &&
                           is_none(text_at(causes.last_cause));
      if (named && !another) return Look::kGoesOn;
    } else if (!is_new || causes.cause == 0) {
      return Look::kGoesOn;
    }
    ended_is_partial_ = ran && is_partial_;
    runs_ = false;
    if (named) begin(causes, now, false);
    if (!ran) return named ? Look::kGoesOn : Look::kEnded;  // kEnded: it began and ended between two looks
    return named ? Look::kAnotherRuns : Look::kEnded;
  }
  // Whether the last one that ended ran when start() was called.
  bool ended_is_partial() const { return ended_is_partial_; }
  // ms until the next look, the more the longer it runs; -1: none runs.
  int next_look(std::uint64_t now) const {
    constexpr std::uint64_t kLeast = 1, kMost = 20, kShare = 16, kMillisecond = 1'000'000;
    if (!runs_) return -1;
    const std::uint64_t part = (now - since_) / kShare / kMillisecond;
    return static_cast<int>(part < kLeast ? kLeast : part > kMost ? kMost : part);
  }

 private:
  void begin(const record::CountersFields& causes, std::uint64_t now, bool partial) {
    std::memcpy(cause_, text_at(causes.cause), sizeof cause_);
    runs_ = true;
    is_partial_ = partial;
    since_ = now;
  }
  static bool is_none(const char* text) { return std::strncmp(text, "No GC", record::kCauseRoom) == 0; }
  static bool is_named(const record::CountersFields& causes) {
    return causes.cause != 0 && causes.last_cause != 0 && !is_none(text_at(causes.cause));
  }

  bool runs_ = false, is_partial_ = false, ended_is_partial_ = false;
  std::uint32_t pause_ = 0;
  std::uint64_t since_ = 0;  // ns: when it began or a pause was last seen
  char cause_[record::kCauseRoom] = {};
};

}  // namespace jtrace::agent
