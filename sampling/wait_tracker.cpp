#include "sampling/wait_tracker.h"

#include <algorithm>
#include <utility>

namespace jtrace::sampling {

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
                     .sample = std::make_unique<KeptSample>(leaves)});
}

void WaitTracker::add(const SwitchRecord& record) {
  events_.push_back({.kind = record.out ? Event::Kind::kOut : Event::Kind::kIn,
                     .time = record.time,
                     .to = 0,
                     .pid = record.pid,
                     .tid = record.tid,
                     .preempted = record.preempted,
                     .sample = nullptr});
}

void WaitTracker::ended(std::uint32_t tid, std::uint64_t time) {
  events_.push_back({.kind = Event::Kind::kEnded,
                     .time = time,
                     .to = 0,
                     .pid = 0,
                     .tid = tid,
                     .preempted = false,
                     .sample = nullptr});
}

void WaitTracker::lost(std::uint64_t from, std::uint64_t to) {
  events_.push_back(
      {.kind = Event::Kind::kLost, .time = from, .to = to, .pid = 0, .tid = 0, .preempted = false, .sample = nullptr});
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
  Thread& thread = threads_[event.tid];
  thread.pid = event.pid;
  thread.tid = event.tid;
  switch (event.kind) {
    case Event::Kind::kLeaves: thread.sample = std::move(event.sample); break;
    case Event::Kind::kOut: out(event, thread); break;
    default: back(event, thread, take); break;
  }
}

// Until `lost.to` nobody's waits are known. Who waits by then has waited since at least then, but maybe elsewhere.
void WaitTracker::cut(const Event& lost, const TakeWait& take) {
  blind_ns_ += lost.to - std::min(lost.to, std::max(lost.time, blind_until_));
  blind_until_ = std::max(blind_until_, lost.to);
  for (auto& [tid, thread] : threads_) {
    const bool from_before = thread.existed && !thread.ran && thread.seen_running == UINT64_MAX;
    thread.ran = true;
    if ((!thread.waits && !from_before) || thread.since >= lost.to) continue;
    if (thread.since < lost.time)
      give(thread, {.begin = thread.since, .end = lost.time, .preempted = thread.preempted, .from_before = from_before},
           take);
    thread.waits = true;
    thread.preempted = false;
    thread.since = lost.to;
    thread.sample.reset();
  }
}

void WaitTracker::out(Event& event, Thread& thread) {
  if (thread.waits) lost_its_end(thread);
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
  take(wait);
}

void WaitTracker::finish(std::uint64_t end, const TakeWait& take) {
  advance(UINT64_MAX, take);
  for (auto& [tid, thread] : threads_) {
    const bool all_the_time = thread.existed && !thread.ran && thread.seen_running == UINT64_MAX;
    if ((!thread.waits && !all_the_time) || thread.since > end) continue;
    give(thread,
         {.begin = thread.since, .end = end, .preempted = thread.preempted, .from_before = all_the_time, .still = true},
         take);
    thread.waits = false;
  }
}

}  // namespace jtrace::sampling
