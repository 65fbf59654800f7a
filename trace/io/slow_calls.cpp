#include "trace/io/slow_calls.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "base/quoted_text.h"
#include "base/utf8.h"
#include "trace/io/allocation_weight.h"

namespace jtrace::trace::io {
namespace {

constexpr std::uint64_t kSteps = 8;         // of each power of two
constexpr std::size_t kMaxArguments = 200;  // bytes

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

WaitKind wait_kind(ThreadState state) {
  return state == ThreadState::kBlocked    ? WaitKind::kBlocked
         : state == ThreadState::kSleeping ? WaitKind::kSleeping
                                           : WaitKind::kWaiting;
}

std::string_view wait_name(WaitKind kind) {
  constexpr std::array<std::string_view, kWaitKinds> kNames = {"blocked", "waiting", "sleeping", "socketIo", "fileIo"};
  return kNames[static_cast<std::size_t>(kind)];
}

const SlowCall::Waited& SlowCall::longest() const {
  return *std::max_element(waits.begin(), waits.end(),
                           [](const Waited& a, const Waited& b) { return a.longest_ns() < b.longest_ns(); });
}

std::uint64_t SlowCall::other() const {
  std::uint64_t known = paused_awake + stopped_awake + cpu.value_or(0);
  for (const Waited& each : waits) known += each.ns;
  return duration - std::min(duration, known);
}

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

std::uint64_t Durations::count_from(std::uint64_t ns) const {
  std::uint64_t count = 0;
  for (std::size_t bucket = bucket_of(ns); bucket < buckets_.size(); ++bucket) count += buckets_[bucket];
  return count;
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

void SlowCalls::note_io(std::uint64_t thread, Wait io) {
  if (const auto found = waits_.find(thread); found != waits_.end()) {
    std::deque<Wait>& last = found->second.last;
    const auto is_part = [&](const Wait& each) {
      return each.since >= io.since && each.kind == WaitKind::kWaiting && each.owner == 0;
    };
    std::erase_if(last, is_part);
    for (auto each = last.rbegin(); each != last.rend() && each->until > io.since; ++each)
      io.within += each->between(io.since, io.until);
  }
  note_wait(thread, io);
}

void SlowCalls::note_call(std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                          const std::vector<GcPause>& pauses, const std::optional<Wait>& open,
                          std::optional<std::uint64_t> cpu, std::string exception) {
  const OpenFrame& frame = stack.back();
  name_waits(thread, frame);
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
                .arguments = frame.arguments ? *frame.arguments : std::string(),
                .exception = std::move(exception),
                .cpu = cpu};
  fill_waits(call);
  if (open) add_wait(call, *open);
  fill_pauses(call, pauses);
  Kept& kept = call.is_all_naps() ? napping_ : busy_;
  if (!kept.takes(duration)) return kept.leave_out(duration);
  take_callee(call, frame);
  fill_standstills(call, pauses);
  kept.add(key, std::move(call));
}

void SlowCalls::fill_pauses(SlowCall& call, const std::vector<GcPause>& pauses) const {
  const std::uint64_t end = call.start + call.duration;
  std::uint64_t most = 0;  // of the call
  for (auto pause = pauses.rbegin(); pause != pauses.rend() && pause->start + pause->duration > call.start; ++pause) {
    const std::uint64_t until = pause->start + pause->duration, within = overlap(pause->start, until, call.start, end);
    call.paused += within;
    call.paused_awake += within - std::min(within, waited_within(call, pause->start, until));
    if (within > most) call.longest_pause = *pause;
    most = std::max(most, within);
  }
}

void SlowCalls::note_standstill(std::uint64_t from, std::uint64_t to) {
  constexpr std::size_t kMost = 10'000;
  standstills_.push_back({from, std::max(from, to)});
  if (standstills_.size() > kMost) standstills_.pop_front();
}

void SlowCalls::fill_standstills(SlowCall& call, const std::vector<GcPause>& pauses) const {
  const std::uint64_t end = call.start + call.duration;
  for (auto each = standstills_.rbegin(); each != standstills_.rend() && each->to > call.start; ++each) {
    const std::uint64_t within = overlap(each->from, each->to, call.start, end);
    call.stopped += within;
    const std::uint64_t other = waited_within(call, each->from, each->to) +
                                paused_within(pauses, std::max(each->from, call.start), std::min(each->to, end));
    call.stopped_awake += within - std::min(within, other);
  }
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

// The callee that took half of the call or more is shown below it, not in a row of its own.
void SlowCalls::take_callee(SlowCall& call, const OpenFrame& frame) {
  if (frame.callee_serial == 0 || call.duration == 0 || frame.callee_time < call.duration / 2) return;
  call.below.push_back({.method = frame.callee, .duration = frame.callee_time, .arguments = {}, .exception = {}});
  for (Kept* kept : {&busy_, &napping_}) {
    const auto callee = kept->calls.find({frame.callee_time, frame.callee_serial});
    if (callee == kept->calls.end()) continue;
    call.below[0].arguments = callee->second.arguments;
    call.below[0].exception = callee->second.exception;
    auto next = callee->second.below.begin();
    const bool recurs = next != callee->second.below.end() && next->method == frame.callee;
    if (recurs) call.below[0].levels += next++->levels;
    call.below.insert(call.below.end(), next, callee->second.below.end());
    call.below_left_out = callee->second.below_left_out;
    if (call.below.size() > SlowCall::kMostBelow) {
      for (auto cut = call.below.begin() + SlowCall::kMostBelow; cut != call.below.end(); ++cut)
        call.below_left_out += cut->levels;
      call.below.resize(SlowCall::kMostBelow);
    }
    // A callee that has ended keeps a row of its own if its caller has not ended.
    if (callee->second.unfinished == call.unfinished) kept->calls.erase(callee);
  }
}

// The call ends: its waits get its name.
void SlowCalls::name_waits(std::uint64_t thread, const OpenFrame& frame) {
  const auto found = waits_.find(thread);
  if (found == waits_.end()) return;
  std::deque<Wait>& last = found->second.last;
  for (auto wait = last.rbegin(); wait != last.rend() && wait->until > frame.time; ++wait)
    if (wait->method == 0) wait->method = frame.method;
}

// How much of this time, in the call, its thread waited.
std::uint64_t SlowCalls::waited_within(const SlowCall& call, std::uint64_t start, std::uint64_t end) const {
  const auto found = waits_.find(call.thread);
  if (found == waits_.end()) return 0;
  const std::deque<Wait>& last = found->second.last;
  start = std::max(start, call.start);
  end = std::min(end, call.start + call.duration);
  auto wait = std::upper_bound(last.begin(), last.end(), start,
                               [](std::uint64_t time, const Wait& each) { return time < each.until; });
  std::uint64_t sum = 0;
  for (; wait != last.end() && wait->since < end; ++wait) sum += wait->between(start, end);
  return sum;
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
  const std::uint64_t all = wait.between(call.start, call.start + call.duration);
  const std::uint64_t ns = all - std::min(all, wait.within);
  if (ns == 0) return;
  SlowCall::Waited& waited = call.waits[static_cast<std::size_t>(wait.kind)];
  waited.ns += ns;
  if (wait.is_nap) call.napping += ns;
  if (ns <= waited.longest_ns()) return;
  waited.longest = wait;
  waited.longest.since = std::max(wait.since, call.start);
  waited.longest.until = waited.longest.since + ns;
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
  const std::deque<Wait>& waits = found->second;
  std::uint64_t sum = 0;
  const std::uint64_t end = call.start + call.duration;
  for (auto wait = waits.begin(); wait != waits.end(); ++wait) {
    if (wait->since < call.start || wait->since >= end) continue;
    // Who ends to wait has the lock: from then on the others wait for that thread. They are in the order of their ends.
    const auto first = std::find_if(waits.begin(), wait, [&](const Wait& each) {
      return each.monitor == wait->monitor && each.monitor != 0 && each.until > wait->since;
    });
    sum += std::min(first->until, end) - wait->since;
  }
  return sum;
}

const SlowCall* SlowCalls::call_of_owner(const Wait& wait) const {
  const std::uint64_t most = (wait.until - wait.since) / 10 * 9;
  const SlowCall* found = nullptr;
  std::uint64_t found_covers = 0;
  for (const Kept* kept : {&busy_, &napping_})
    for (const auto& [key, call] : kept->calls) {
      if (call.thread != wait.owner || call.start > wait.since || wait.since >= call.start + call.duration) continue;
      const std::uint64_t covers = std::min(most, wait.between(call.start, call.start + call.duration));
      if (found != nullptr && std::pair(covers, call.start) <= std::pair(found_covers, found->start)) continue;
      found = &call;
      found_covers = covers;
    }
  return found_covers < (wait.until - wait.since) / 2 ? nullptr : found;
}

// A wait ends after the call that kept it waiting, so this is known only at the end of the trace.
bool SlowCalls::is_idle(const SlowCall& call) const {
  return call.is_all_naps() && held_up_others(call) < call.duration / 100 * (100 - SlowCall::kIdlePercent);
}

namespace {

// The declared type of an argument, as Java prints it; "?" if the signature has none there.
std::string declared_type(std::string_view signature, std::size_t position) {
  std::size_t at = signature.starts_with('(') ? 1 : signature.size();
  for (; at < signature.size() && signature[at] != ')'; --position) {
    const std::size_t begin = at;
    while (at < signature.size() && signature[at] == '[') ++at;
    at = at < signature.size() && signature[at] == 'L' ? signature.find(';', at) : at;
    if (at >= signature.size()) break;
    const std::string_view type = signature.substr(begin, ++at - begin);
    if (position != 0) continue;
    return java_class_name(type.starts_with('L') ? type.substr(1, type.size() - 2) : type);
  }
  return "?";
}

std::string object_argument(const Value& value, const Scope& scope, const std::string& declared) {
  if (!value.objIdRef.present() || !value.objIdRef.is_number()) return declared;
  const std::uint64_t id = value.objIdRef.value();
  if (id == 0) return "null";
  const auto known = scope.objects.find(id);
  const std::string type =
      known == scope.objects.end() ? "" : allocated_type(scope, known->second.is_array, known->second.class_id);
  return type + "#" + std::to_string(id);
}

// Where the argument that begins at `at` ends: before its comma, or at the end.
std::size_t argument_end(std::string_view arguments, std::size_t at) {
  if (arguments[at] != '"') return std::min(arguments.find(", ", at), arguments.size());
  for (++at; at < arguments.size() && arguments[at] != '"'; ++at)
    if (arguments[at] == '\\') ++at;
  return std::min(arguments.find(", ", at), arguments.size());  // "..." may follow the quotation mark
}

// A number begins with a digit or a minus. Types without a package and a dot look like words, and are not told apart.
bool is_type(std::string_view argument) {
  const bool is_name = argument.front() >= 'A' && (argument.find('.') != argument.npos || argument.ends_with("[]"));
  return is_name && argument.find('#') == argument.npos;
}

// docs/methods.md: "cut length=N".
bool is_cut(const Value& value) { return value.serializationFormat.view().starts_with("cut "); }

}  // namespace

std::string arguments_text(const List<Value>& values, const Scope& scope, std::string_view signature) {
  std::string text;
  std::size_t position = 0;
  for (const Value& value : values) {
    if (!text.empty()) text += ", ";
    const std::string_view type = value.type.view();
    const std::string_view word = value.value.present() ? value.value.view() : value.text.view();
    if (type == "OPAQUE") text += object_argument(value, scope, declared_type(signature, position));
    else if (type == "STRING") text += quoted_text(word) + (is_cut(value) ? "..." : "");
    else text += word;
    ++position;
    if (text.size() <= kMaxArguments) continue;
    return std::string(utf8_prefix(text, kMaxArguments)) + "...";
  }
  return text;
}

std::vector<std::string_view> arguments_of(std::string_view arguments) {
  std::vector<std::string_view> each;
  for (std::size_t at = 0; at < arguments.size();) {
    const std::size_t end = argument_end(arguments, at);
    each.push_back(arguments.substr(at, end - at));
    at = end + 2;
  }
  return each;
}

OpaqueArguments opaque_arguments(std::string_view arguments) {
  OpaqueArguments found;
  for (const std::string_view each : arguments_of(arguments)) {
    found.objects = found.objects || (each.front() != '"' && each.find('#') != std::string_view::npos);
    found.unread = found.unread || each == "?" || is_type(each);
  }
  return found;
}

}  // namespace jtrace::trace::io
