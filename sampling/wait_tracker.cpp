#include "sampling/wait_tracker.h"

#include <algorithm>
#include <utility>

namespace jtrace::sampling {
namespace {

constexpr int kMostLooks = 3;  // for the owner of a lock that changes hands meanwhile

}  // namespace

KeptSample::KeptSample(const SampleRecord& from) : sample(from), stack(from.stack.begin(), from.stack.end()) {
  sample.stack = stack;
}

void WaitTracker::add(const SampleRecord& leaves) {
  events_.push_back({.kind = Event::Kind::kLeaves,
                     .time = leaves.time,
                     .to = 0,
                     .pid = leaves.pid,
                     .tid = leaves.tid,
                     .preempted = false,
                     .sample = std::make_unique<KeptSample>(leaves),
                     .wakeup = {}});
}

void WaitTracker::add(const SwitchRecord& record) {
  events_.push_back({.kind = record.out ? Event::Kind::kOut : Event::Kind::kIn,
                     .time = record.time,
                     .to = 0,
                     .pid = record.pid,
                     .tid = record.tid,
                     .preempted = record.preempted,
                     .sample = nullptr,
                     .wakeup = {}});
}

void WaitTracker::add(const Wakeup& wakeup) {
  events_.push_back({.kind = Event::Kind::kWoken,
                     .time = wakeup.time,
                     .to = 0,
                     .pid = 0,
                     .tid = wakeup.tid,
                     .preempted = false,
                     .sample = nullptr,
                     .wakeup = wakeup});
}

void WaitTracker::ended(std::uint32_t tid, std::uint64_t time) {
  events_.push_back({.kind = Event::Kind::kEnded,
                     .time = time,
                     .to = 0,
                     .pid = 0,
                     .tid = tid,
                     .preempted = false,
                     .sample = nullptr,
                     .wakeup = {}});
}

void WaitTracker::lost(std::uint64_t from, std::uint64_t to) {
  events_.push_back({.kind = Event::Kind::kLost,
                     .time = from,
                     .to = to,
                     .pid = 0,
                     .tid = 0,
                     .preempted = false,
                     .sample = nullptr,
                     .wakeup = {}});
}

void WaitTracker::existed(std::uint32_t pid, std::uint32_t tid, std::uint64_t time) {
  threads_[tid] = {.pid = pid, .tid = tid, .existed = true, .since = time};
}

void WaitTracker::ran(std::uint32_t tid, std::uint64_t seen) {
  const auto thread = threads_.find(tid);
  if (thread != threads_.end()) thread->second.seen_running = seen;
}

// Records of one ring are in order, and of one thread and time only one ring has any: a stable sort keeps their order.
void WaitTracker::advance(std::uint64_t until, const TakeWait& take) {
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  const auto rest =
      std::find_if(events_.begin(), events_.end(), [until](const Event& event) { return event.time > until; });
  for (auto event = events_.begin(); event != rest; ++event) apply(*event, take);
  events_.erase(events_.begin(), rest);
}

void WaitTracker::apply(Event& event, const TakeWait& take) {
  if (event.kind == Event::Kind::kLost) return cut(event, take);
  if (event.kind == Event::Kind::kEnded) {
    threads_.erase(event.tid);
    if (ended_) ended_(event.tid);
    return;
  }
  if (event.kind == Event::Kind::kWoken) return woken(event.wakeup);
  Thread& thread = threads_[event.tid];
  thread.pid = event.pid;
  thread.tid = event.tid;
  switch (event.kind) {
    case Event::Kind::kLeaves: thread.sample = std::move(event.sample); break;
    case Event::Kind::kOut: out(event, thread); break;
    default: back(event, thread, take); break;
  }
}

// Of any thread of the machine. One that is woken while it still runs (it was about to wait) is so by itself.
void WaitTracker::woken(const Wakeup& wakeup) {
  const auto woken = threads_.find(wakeup.tid);
  if (woken == threads_.end() || !name_ || wakeup.waker_tid == wakeup.tid) return;
  woken->second.waker = name_(wakeup, woken->second.pid);
}

// Until `lost.to` nobody's waits are known. Who waits by then has waited since at least then, but maybe elsewhere.
void WaitTracker::cut(const Event& lost, const TakeWait& take) {
  blind_ns_ += lost.to - std::min(lost.to, std::max(lost.time, blind_until_));
  blind_until_ = std::max(blind_until_, lost.to);
  for (auto& [tid, thread] : threads_) {
    const bool from_before = thread.waits_from_before();
    thread.ran = true;
    if ((!thread.waits && !from_before) || thread.since >= lost.to) continue;
    if (thread.since < lost.time)
      give(thread, {.begin = thread.since, .end = lost.time, .preempted = thread.preempted, .from_before = from_before},
           take);
    thread.waits = true;
    thread.preempted = false;
    thread.since = lost.to;
    thread.sample.reset();
    begin_looks(thread);
  }
}

void WaitTracker::out(Event& event, Thread& thread) {
  if (thread.waits) lost_its_end(thread);
  begin_looks(thread);
  thread.waits = thread.ran = true;
  thread.preempted = event.preempted;
  thread.since = event.time;
  if (event.time >= blind_until_) return;
  thread.since = blind_until_;
  thread.preempted = false;
  thread.sample.reset();
}

// It is off again without a record that it was back. The sample that it has may be that of the wait before.
void WaitTracker::lost_its_end(Thread& thread) {
  ++broken_;
  if (thread.sample && thread.sample->sample.time <= thread.since) thread.sample.reset();
}

void WaitTracker::back(Event& event, Thread& thread, const TakeWait& take) {
  if (thread.waits) {
    // Otherwise it was back while switches were lost.
    if (event.time >= thread.since)
      give(thread, {.begin = thread.since, .end = event.time, .preempted = thread.preempted}, take);
  } else if (thread.ran || event.time > thread.seen_running) {
    ++broken_;
  } else if (thread.existed) {
    give(thread, {.begin = thread.since, .end = std::max(thread.since, event.time), .from_before = true}, take);
  }
  thread.waits = false;
  thread.ran = true;
  thread.sample.reset();
  thread.waker.reset();
}

void WaitTracker::find_ownerless(std::uint64_t now, const ToLook& look) {
  for (auto& [tid, thread] : threads_) {
    if (!thread.waits_for_something() || now < thread.since + least_ || thread.looks >= kMostLooks) continue;
    if (thread.owner && !thread.owner->name.empty()) continue;
    const std::uint64_t sp = thread.sample ? thread.sample->sample.registers.sp() : 0;
    if (look(thread.pid, tid, sp)) ++thread.looks;
  }
}

std::vector<WaitTracker::WaitingThread> WaitTracker::stackless() const {
  std::vector<WaitingThread> found;
  for (const auto& [tid, thread] : threads_)
    if (!thread.sample && thread.waits_for_something())
      found.push_back({.since = thread.since, .pid = thread.pid, .tid = tid});
  std::sort(found.begin(), found.end());
  return found;
}

void WaitTracker::owner(std::uint32_t tid, LockOwner owner) {
  const auto thread = threads_.find(tid);
  if (thread != threads_.end()) thread->second.owner = std::move(owner);
}

void WaitTracker::give(const Thread& thread, Wait wait, const TakeWait& take) {
  if (wait.length() < least_) {
    ++brief_;
    brief_ns_ += wait.length();
    return;
  }
  wait.pid = thread.pid;
  wait.tid = thread.tid;
  wait.at = thread.sample ? &thread.sample->sample : nullptr;
  if (thread.owner && thread.owner->from >= wait.begin && thread.owner->until <= wait.end) wait.owner = &*thread.owner;
  if (thread.waker && !wait.still && !wait.preempted) wait.waker = &*thread.waker;
  take(wait);
}

void WaitTracker::finish(std::uint64_t end, const TakeWait& take) {
  advance(UINT64_MAX, take);
  for (auto& [tid, thread] : threads_) {
    const bool all_the_time = thread.waits_from_before();
    if ((!thread.waits && !all_the_time) || thread.since > end) continue;
    give(thread,
         {.begin = thread.since, .end = end, .preempted = thread.preempted, .from_before = all_the_time, .still = true},
         take);
    thread.waits = false;
  }
}

}  // namespace jtrace::sampling
