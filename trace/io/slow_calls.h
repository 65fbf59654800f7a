// SlowCalls: the longest calls of a trace, each with its arguments, the waits of its thread during the call and the
// callees that took most of its time; and for each method the distribution of its calls' durations. Statistics passes
// the events. Memory grows with threads and methods, not with calls: kMaxKept calls are kept, and the last kMaxWaits
// waits of each thread. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/io/call_stacks.h"

namespace jtrace::trace::io {

enum class ThreadState : std::uint8_t { kRunning, kBlocked, kWaiting, kSleeping };

struct GcPause {  // ns, bytes (0: unknown)
  std::uint64_t start = 0, duration = 0, used = 0, total = 0;
  std::uint64_t before = 0;           // used when it began
  std::uint32_t cause = 0, kind = 0;  // places in ScopeStatistics::pause_texts
};

// Durations of a method's calls, by eighths of a power of two: percentiles are at most an eighth too long. ns.
class Durations {
 public:
  static constexpr double kGreatestError = 0.125;  // of a percentile that is too high
  void add(std::uint64_t ns);
  std::uint64_t count() const { return count_; }
  std::uint64_t longest() const { return longest_; }
  // The time that `share` (0 to 1) of the calls did not exceed; 0 without calls.
  std::uint64_t percentile(double share) const;

 private:
  std::vector<std::uint32_t> buckets_;
  std::uint64_t count_ = 0, longest_ = 0;
};

struct Wait {  // ns since the epoch
  ThreadState state = ThreadState::kRunning;
  std::uint64_t since = 0, until = 0;
  std::uint64_t monitor = 0, owner = 0;  // ids; 0: not known
};

struct SlowCall {
  struct Callee {
    std::uint64_t method = 0, duration = 0;
    std::string arguments;
  };
  std::uint64_t start = 0, duration = 0;  // ns
  std::uint64_t method = 0, thread = 0;
  bool unfinished = false;                               // it took at least this long
  std::string arguments;                                 // "17, "abc""; "": the trace does not have them
  std::uint64_t blocked = 0, waiting = 0, sleeping = 0;  // ns, within it
  std::uint64_t paused = 0;                              // by collections; counted in addition to the waits
  Wait longest;                                          // the longest wait, clipped to the call
  bool waits_cut = false;     // its thread had more than kMaxWaits waits since it began: the sums are of the last ones
  std::vector<Callee> below;  // the callee that took half of it or more, the one that took half of that...
  std::uint64_t waited() const { return blocked + waiting + sleeping; }
};

class SlowCalls {
 public:
  static constexpr std::size_t kMaxKept = 1000, kMaxWaits = 4096;

  // Adds a wait of the thread that has ended.
  void note_wait(std::uint64_t thread, const Wait& wait);
  // The begin of a call. If the thread has just waited for a monitor and the method that it enters at `time` takes one,
  // the call begins with the wait, because its caller did not wait. Otherwise `time`.
  std::uint64_t begin_of(std::uint64_t thread, bool takes_monitor, std::uint64_t time) const;
  // The call on top of `stack` ends at `time`. `pauses`: those until then, ordered by time.
  void note_call(std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                 const std::vector<GcPause>& pauses);

  // Calls of `over` ns or longer that have ended, or (`unfinished`) have not: of the kMaxKept longest calls, the
  // longest first. A call that took half of its caller's time or more is in the `below` of that one, and not listed
  // itself.
  std::vector<const SlowCall*> longest_first(std::uint64_t over, bool unfinished) const;
  // The longest call that is not kept, ns; 0: all are.
  std::uint64_t longest_left_out() const { return longest_left_out_; }
  const std::unordered_map<std::uint64_t, Durations>& methods() const { return methods_; }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // duration, serial number
  void fill_waits(SlowCall& call) const;

  std::map<Key, SlowCall> kept_;
  struct ThreadWaits {
    std::deque<Wait> last;              // by time
    std::uint64_t forgotten_until = 0;  // ns: the end of the last one that is not kept
  };
  std::unordered_map<std::uint64_t, ThreadWaits> waits_;  // by thread
  std::unordered_map<std::uint64_t, Durations> methods_;
  std::uint64_t serial_ = 0;
  std::uint64_t longest_left_out_ = 0;
};

// `value` children of a methodEntry as one line, shortened if it is long.
std::string arguments_text(const List<Value>& values);

}  // namespace jtrace::trace::io
