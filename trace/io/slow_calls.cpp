#include "trace/io/slow_calls.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace jtrace::trace::io {
namespace {

constexpr std::uint64_t kSteps = 8;               // of each power of two
constexpr std::uint64_t kCoarseStep = 1'000'000;  // ns: how late the coarse clock of entries may be
constexpr std::size_t kMaxArguments = 200;        // bytes

std::size_t bucket_of(std::uint64_t ns) {
  if (ns < kSteps) return ns;
  const int shift = static_cast<int>(std::bit_width(ns)) - 4;
  return kSteps * static_cast<std::size_t>(shift + 1) + ((ns >> shift) & (kSteps - 1));
}
std::uint64_t end_of_bucket(std::size_t bucket) {
  if (bucket < kSteps) return bucket;
  const std::size_t shift = bucket / kSteps - 1;
  return ((kSteps + bucket % kSteps + 1) << shift) - 1;
}

std::uint64_t overlap(std::uint64_t from, std::uint64_t to, std::uint64_t start, std::uint64_t end) {
  from = std::max(from, start);
  to = std::min(to, end);
  return to > from ? to - from : 0;
}

std::uint64_t paused_within(const std::vector<GcPause>& pauses, std::uint64_t start, std::uint64_t end) {
  std::uint64_t sum = 0;
  for (auto pause = pauses.rbegin(); pause != pauses.rend() && pause->start + pause->duration > start; ++pause)
    sum += overlap(pause->start, pause->start + pause->duration, start, end);
  return sum;
}

// Classes whose waiters wait for a lock, a permit, or what another thread computes: that is not idle.
bool is_awaited(std::string_view waited_for) {
  constexpr std::string_view kConcurrent = "java.util.concurrent.";
  if (!waited_for.starts_with(kConcurrent)) return false;
  waited_for.remove_prefix(kConcurrent.size());
  constexpr std::string_view kAwaited[] = {"CompletableFuture", "FutureTask",    "ForkJoinTask",
                                           "CountDownLatch$",   "Semaphore$",    "Phaser",
                                           "Exchanger",         "locks.Stamped", "locks.Reentrant"};
  return std::any_of(std::begin(kAwaited), std::end(kAwaited),
                     [&](std::string_view each) { return waited_for.starts_with(each); });
}

}  // namespace

bool is_nap(ThreadState state, std::uint64_t owner, std::string_view waited_for) {
  return state == ThreadState::kSleeping || (state == ThreadState::kWaiting && owner == 0 && !is_awaited(waited_for));
}

void Durations::add(std::uint64_t ns) {
  const std::size_t bucket = bucket_of(ns);
  if (buckets_.size() <= bucket) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  longest_ = std::max(longest_, ns);
}

std::uint64_t Durations::percentile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen != 0 && seen >= wanted) return std::min(end_of_bucket(bucket), longest_);
  }
  return longest_;
}

void SlowCalls::note_wait(std::uint64_t thread, const Wait& wait) {
  if (wait.owner != 0) {
    std::deque<Wait>& for_owner = waited_for_[wait.owner];
    for_owner.push_back(wait);
    if (for_owner.size() > kMaxWaits) for_owner.pop_front();
  }
  ThreadWaits& waits = waits_[thread];
  waits.last.push_back(wait);
  if (waits.last.size() <= kMaxWaits) return;
  waits.forgotten_until = std::max(waits.forgotten_until, waits.last.front().until);
  waits.last.pop_front();
}

std::uint64_t SlowCalls::begin_of(std::uint64_t thread, bool takes_monitor, std::uint64_t time) const {
  if (!takes_monitor) return time;
  const auto found = waits_.find(thread);
  if (found == waits_.end()) return time;
  const Wait& last = found->second.last.back();
  const bool is_its =
      last.state == ThreadState::kBlocked && last.until <= time + kCoarseStep && time <= last.until + kCoarseStep;
  return is_its ? std::min(last.since, time) : time;
}

void SlowCalls::note_call(std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                          const std::vector<GcPause>& pauses, const std::optional<Wait>& open) {
  const OpenFrame& frame = stack.back();
  const std::uint64_t duration = time - frame.time;
  if (!frame.unfinished) methods_[frame.method].add(duration);
  const Key key{duration, ++serial_};
  if (stack.size() > 1) {
    OpenFrame& caller = stack[stack.size() - 2];
    if (duration >= caller.callee_time) {
      caller.callee = frame.method;
      caller.callee_time = duration;
      caller.callee_serial = key.second;
    }
  }
  if (duration < SlowCall::kLeastNap && !busy_.takes(duration)) return busy_.leave_out(duration);
  SlowCall call{.start = frame.time,
                .duration = duration,
                .method = frame.method,
                .thread = thread,
                .unfinished = frame.unfinished,
                .arguments = frame.arguments ? *frame.arguments : std::string()};
  fill_waits(call);
  if (open) add_wait(call, *open);
  Kept& kept = call.is_all_naps() ? napping_ : busy_;
  if (!kept.takes(duration)) return kept.leave_out(duration);
  take_callee(call, frame);
  call.paused = paused_within(pauses, call.start, time);
  kept.add(key, std::move(call));
}

bool SlowCalls::Kept::takes(std::uint64_t duration) const {
  return calls.size() < kMaxKept || duration > calls.begin()->first.first;
}

void SlowCalls::Kept::add(const Key& key, SlowCall call) {
  calls.emplace(key, std::move(call));
  if (calls.size() <= kMaxKept) return;
  leave_out(calls.begin()->first.first);
  calls.erase(calls.begin());
}

// The callee that took half of the call or more stands below it, not beside it.
void SlowCalls::take_callee(SlowCall& call, const OpenFrame& frame) {
  if (frame.callee_serial == 0 || call.duration == 0 || frame.callee_time < call.duration / 2) return;
  call.below.push_back({.method = frame.callee, .duration = frame.callee_time, .arguments = {}});
  for (Kept* kept : {&busy_, &napping_}) {
    const auto callee = kept->calls.find({frame.callee_time, frame.callee_serial});
    if (callee == kept->calls.end()) continue;
    call.below[0].arguments = callee->second.arguments;
    call.below.insert(call.below.end(), callee->second.below.begin(), callee->second.below.end());
    // One that has ended is an answer by itself, where its caller goes on and on.
    if (callee->second.unfinished == call.unfinished) kept->calls.erase(callee);
  }
}

void SlowCalls::fill_waits(SlowCall& call) const {
  const auto found = waits_.find(call.thread);
  if (found == waits_.end()) return;
  const ThreadWaits& waits = found->second;
  call.waits_cut = waits.forgotten_until > call.start;
  for (auto wait = waits.last.rbegin(); wait != waits.last.rend() && wait->until > call.start; ++wait)
    add_wait(call, *wait);
}

// What of the wait is within the call.
void SlowCalls::add_wait(SlowCall& call, const Wait& wait) {
  const std::uint64_t ns = overlap(wait.since, wait.until, call.start, call.start + call.duration);
  if (ns == 0) return;
  (wait.state == ThreadState::kBlocked    ? call.blocked
   : wait.state == ThreadState::kSleeping ? call.sleeping
                                          : call.waiting) += ns;
  if (wait.is_nap) call.napping += ns;
  if (ns <= call.longest.until - call.longest.since) return;
  call.longest = wait;
  call.longest.since = std::max(wait.since, call.start);
  call.longest.until = call.longest.since + ns;
}

std::vector<const SlowCall*> SlowCalls::longest_first(std::uint64_t over, bool unfinished, Which which) const {
  std::vector<const SlowCall*> calls;
  for (const Kept* kept : {&busy_, &napping_})
    for (auto call = kept->calls.rbegin(); call != kept->calls.rend() && call->first.first >= over; ++call)
      if (call->second.unfinished == unfinished &&
          (which == Which::kAll || is_idle(call->second) == (which == Which::kIdle)))
        calls.push_back(&call->second);
  std::stable_sort(calls.begin(), calls.end(),
                   [](const SlowCall* a, const SlowCall* b) { return a->duration > b->duration; });
  return calls;
}

std::uint64_t SlowCalls::held_up_others(const SlowCall& call) const {
  const auto found = waited_for_.find(call.thread);
  if (found == waited_for_.end()) return 0;
  std::uint64_t sum = 0;
  const std::uint64_t end = call.start + call.duration;
  for (const Wait& wait : found->second)
    if (wait.since >= call.start && wait.since < end) sum += std::min(wait.until, end) - wait.since;
  return sum;
}

// A wait ends after the call that kept it waiting, so this is known only at the end of the trace.
bool SlowCalls::is_idle(const SlowCall& call) const {
  return call.is_all_naps() && held_up_others(call) < call.duration / 100 * (100 - SlowCall::kIdlePercent);
}

std::string arguments_text(const List<Value>& values) {
  std::string text;
  for (const Value& value : values) {
    if (!text.empty()) text += ", ";
    const std::string_view type = value.type.view();
    const std::string_view word = value.value.present() ? value.value.view() : value.text.view();
    if (type == "OPAQUE")
      text += value.objIdRef.present() && value.objIdRef.is_number()
                  ? value.objIdRef.value() == 0 ? std::string("null") : "#" + std::to_string(value.objIdRef.value())
                  : std::string("?");
    else if (type == "STRING") text.append("\"").append(word).append("\"");
    else text += word;
    if (text.size() <= kMaxArguments) continue;
    std::size_t end = kMaxArguments;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + "...";
  }
  return text;
}

}  // namespace jtrace::trace::io
