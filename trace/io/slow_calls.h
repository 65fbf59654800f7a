// SlowCalls: the longest calls of a trace, each with its arguments, the waits of its thread during the call and the
// callees that took most of its time; and for each method the distribution of its calls' durations. Statistics passes
// the events. Memory grows with threads and methods, not with calls: kMaxKept calls are kept and as many idle ones, and
// the last kMaxWaits waits of each thread and for each thread. One thread.
//
// A call is idle if nearly all of it is a nap: its thread slept, or waited for no lock and no result (worker pools that
// poll a queue, pauses of a loop; a read from a socket that no traced call waits for), and hardly anyone waited for the
// thread meanwhile.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/io/call_stacks.h"

namespace jtrace::trace::io {

// Classes that were loaded got their callouts when the trace began: what the JVM had compiled of them was thrown away.
// A call that began within this time may have been slow for that.
inline constexpr std::uint64_t kSettling = 10'000'000'000;  // ns

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
  // How many took this time or more: about, some that took an eighth less may be among them.
  std::uint64_t count_from(std::uint64_t ns) const;
  // The time that `share` (0 to 1) of the calls did not exceed; 0 without calls.
  std::uint64_t percentile(double share) const;

 private:
  std::vector<std::uint32_t> buckets_;
  std::uint64_t count_ = 0, longest_ = 0;
};

// What a call may wait for; kSocket and kFile are calls of the JDK's methods that do (io_methods.h).
enum class WaitKind : std::uint8_t { kBlocked, kWaiting, kSleeping, kSocket, kFile };
inline constexpr std::size_t kWaitKinds = 5;
WaitKind wait_kind(ThreadState state);
std::string_view wait_name(WaitKind kind);  // "blocked", "waiting", "sleeping", "socketIo", "fileIo"

struct Wait {  // ns since the epoch
  WaitKind kind = WaitKind::kBlocked;
  std::uint64_t since = 0, until = 0;
  std::uint64_t monitor = 0, owner = 0;  // ids; 0: not known
  bool is_nap = false;
  std::uint64_t within = 0;  // ns of it that belong to other waits
  std::uint64_t method = 0;  // the innermost call of the trace that it was in; 0: not known

  // ns of it between the two times.
  std::uint64_t between(std::uint64_t start, std::uint64_t end) const {
    const std::uint64_t from = std::max(since, start), to = std::min(until, end);
    return to > from ? to - from : 0;
  }
};
// If a wait that is not for a monitor is a nap, by the class of what it waits on (as Java prints it, "?" if unknown).
bool is_nap(ThreadState state, std::uint64_t owner, std::string_view waited_for);

struct SlowCall {
  static constexpr unsigned kIdlePercent = 95;
  static constexpr std::uint64_t kLeastNap = 1'000'000;  // ns; shorter calls are not distinguished
  struct Callee {
    std::uint64_t method = 0, duration = 0;
    std::string arguments, exception;  // as of the call
    std::uint64_t levels = 1;  // calls of it, each within the one before; `duration` and the rest are of the outermost
  };
  std::uint64_t start = 0, duration = 0;  // ns
  std::uint64_t method = 0, thread = 0;
  bool unfinished = false;  // it took at least this long
  std::string arguments;    // "17, "abc""; "": the trace does not have them
  std::string exception;    // the class of the one that ended it, "?" if it is not known; "": it returned
  struct Waited {
    std::uint64_t ns = 0;  // within the call
    Wait longest;          // clipped to the call
    std::uint64_t longest_ns() const { return longest.until - longest.since; }
  };
  std::array<Waited, kWaitKinds> waits;
  std::uint64_t napping = 0;         // ns: what of the waits is naps
  std::uint64_t paused = 0;          // by collections; counted in addition to the waits
  std::uint64_t paused_awake = 0;    // what of it is in no wait
  GcPause longest_pause;             // whole, also if the call has a part of it alone; duration 0: none
  std::uint64_t stopped = 0;         // the process stood still (SIGSTOP, a debugger, a freezer); beside the waits
  std::uint64_t stopped_awake = 0;   // what of it is in no wait
  std::optional<std::uint64_t> cpu;  // ns on a processor; absent: the trace does not have it
  bool waits_cut = false;  // its thread had more than kMaxWaits waits since it began: the sums are of the last ones
  static constexpr std::size_t kMostBelow = 12;
  // The callee that took half of it or more, the one that took half of that..., and how many more there are: a
  // recursion may be thousands of calls deep.
  std::vector<Callee> below;
  std::size_t below_left_out = 0;
  const Waited& of(WaitKind kind) const { return waits[static_cast<std::size_t>(kind)]; }
  // The longest of all waits; its time is 0 if there was none.
  const Waited& longest() const;
  // What is none of these: on a processor, ready for one, or in native code that waits. Without `cpu`, if that is
  // known.
  std::uint64_t other() const;
  // What of the waits was a pause is no nap: the collector made the call long, whatever its thread did.
  bool is_all_naps() const {
    const std::uint64_t napped = napping - std::min(napping, paused - paused_awake), rest = duration - paused;
    return duration >= kLeastNap && paused < duration / 2 && napped >= rest / 100 * kIdlePercent;
  }
};

class SlowCalls {
 public:
  enum class Which : std::uint8_t { kBusy, kIdle, kAll };
  static constexpr std::size_t kMaxKept = 1000, kMaxWaits = 4096;

  // Adds a wait of the thread that has ended.
  void note_wait(std::uint64_t thread, const Wait& wait);
  // Adds a call that waits for a socket or a file, which ends. Waits in it without an owner are a part of it: so a
  // virtual thread waits for its socket.
  void note_io(std::uint64_t thread, Wait io);
  // The process stood still in this time; before the calls that were open then end.
  void note_standstill(std::uint64_t from, std::uint64_t to);
  // The call on top of `stack` ends at `time`. `pauses`: those until then, ordered by time. `open`: a wait of the
  // thread that has not ended. `cpu`: ns of a processor that it took. `exception`: as SlowCall::exception.
  void note_call(std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                 const std::vector<GcPause>& pauses, const std::optional<Wait>& open = std::nullopt,
                 std::optional<std::uint64_t> cpu = std::nullopt, std::string exception = {});

  // Calls of `over` ns or longer that have ended, or (`unfinished`) have not: of those that are kept, the longest
  // first. A call that took half of its caller's time or more is in the `below` of that one, and not listed itself.
  std::vector<const SlowCall*> longest_first(std::uint64_t over, bool unfinished, Which which = Which::kAll) const;
  // How long other threads, each of which counts, waited in the call for its thread, ns. Only waits that began in the
  // call: who owns the lock is known for that moment, and a later call of the thread may wait for the same lock.
  std::uint64_t held_up_others(const SlowCall& call) const;
  // Waits by the thread that had what they were for, as they ended: the last kMaxWaits of each.
  const std::unordered_map<std::uint64_t, std::deque<Wait>>& waited_for() const { return waited_for_; }
  // What the owner did while the wait lasted: of its calls that are kept and cover most of that time the one that began
  // last, else that which covers most, if it is half or more; null: none is known.
  const SlowCall* call_of_owner(const Wait& wait) const;
  // The longest call that is not kept, ns; 0: all are. Of those that are all naps, or of the others.
  std::uint64_t longest_left_out(bool naps) const { return (naps ? napping_ : busy_).longest_left_out; }
  const std::unordered_map<std::uint64_t, Durations>& methods() const { return methods_; }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // duration, serial number
  struct Kept {
    std::map<Key, SlowCall> calls;
    std::uint64_t longest_left_out = 0;
    bool takes(std::uint64_t duration) const;
    void leave_out(std::uint64_t duration) { longest_left_out = std::max(longest_left_out, duration); }
    void add(const Key& key, SlowCall call);
  };
  // Waits whose call is not known yet are those of the first call that ends after them: the innermost one.
  void name_waits(std::uint64_t thread, const OpenFrame& frame);
  void fill_waits(SlowCall& call) const;
  std::uint64_t waited_within(const SlowCall& call, std::uint64_t start, std::uint64_t end) const;
  static void add_wait(SlowCall& call, const Wait& wait);
  void fill_pauses(SlowCall& call, const std::vector<GcPause>& pauses) const;
  void take_callee(SlowCall& call, const OpenFrame& frame);
  bool is_idle(const SlowCall& call) const;

  Kept busy_, napping_;  // apart, so that naps, of which there are many, do not take the place of others
  struct ThreadWaits {
    std::deque<Wait> last;              // by time
    std::uint64_t forgotten_until = 0;  // ns: the end of the last one that is not kept
  };
  struct Standstill {
    std::uint64_t from = 0, to = 0;  // ns
  };
  void fill_standstills(SlowCall& call, const std::vector<GcPause>& pauses) const;
  std::deque<Standstill> standstills_;                              // by time
  std::unordered_map<std::uint64_t, ThreadWaits> waits_;            // by thread
  std::unordered_map<std::uint64_t, std::deque<Wait>> waited_for_;  // by owner, as the waits end
  std::unordered_map<std::uint64_t, Durations> methods_;
  std::uint64_t serial_ = 0;
};

// `value` children of a methodEntry as one line, shortened if it is long: "17, "abc", shop.Order#228, null, ?".
// `signature`: of the method, in internal form, for the declared type of what the trace has no value of; may be "".
std::string arguments_text(const List<Value>& values, const Scope& scope, std::string_view signature = {});
// The values in such a line, one by one; views of it.
std::vector<std::string_view> arguments_of(std::string_view arguments);
// Whether it names objects by number, or has a value that could not be read.
struct OpaqueArguments {
  bool objects = false, unread = false;
};
OpaqueArguments opaque_arguments(std::string_view arguments);

}  // namespace jtrace::trace::io
