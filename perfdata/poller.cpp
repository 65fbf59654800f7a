#include "perfdata/poller.h"

#include <algorithm>

namespace jtrace::perfdata {

Poller::Poller(std::vector<CounterSource> sources, PollOutput& output, std::function<void(const std::string&)> report)
    : output_(output), report_(std::move(report)) {
  for (CounterSource& source : sources) jvms_.push_back({.source = std::move(source)});
}

Result<PollSummary> Poller::run(const PollPlan& plan, int stop_fd) {
  PollLoop pace(plan, stop_fd);
  auto done = begin();
  if (done) done = loop(pace);
  if (!done) output_.begin_closing(trace::is_full(done.error()));
  for (std::size_t i = 0; i < jvms_.size(); ++i)
    if (auto ended = close(i); !ended && done) done = std::move(ended);
  if (auto finished = output_.finish(); !finished && done) done = std::move(finished);
  if (!done) return fail(std::move(done).error());
  summary_.skipped = pace.skipped();
  return summary_;
}

Result<> Poller::begin() {
  for (std::size_t i = 0; i < jvms_.size(); ++i) {
    Polled& jvm = jvms_[i];
    jvm.clock = first_tick_clock(jvm.source.first(), anchor());
    JTRACE_RETURN_IF_ERROR(output_.begin(i, jvm.source));
  }
  return {};
}

const ClockAnchor& Poller::anchor() {
  constexpr std::uint64_t kLifetime = 60 * kNanosPerSecond;  // the wall clock may be set while jtrace runs
  if (anchor_.monotonic == 0 || monotonic_ns() - anchor_.monotonic > kLifetime) anchor_ = ClockAnchor::now();
  return anchor_;
}

void Poller::watch(PollLoop& pace) {
  watched_.clear();
  std::vector<int> descriptors;
  for (std::size_t i = 0; i < jvms_.size(); ++i) {
    if (jvms_[i].ended || !jvms_[i].source.process()) continue;
    watched_.push_back(i);
    descriptors.push_back(jvms_[i].source.process()->pidfd());
  }
  pace.watch(std::move(descriptors));
}

Result<> Poller::loop(PollLoop& pace) {
  watch(pace);
  for (;;) {
    switch (pace.wait()) {
      case PollLoop::Wake::kSample: JTRACE_RETURN_IF_ERROR(sample_all()); break;
      case PollLoop::Wake::kPauses: JTRACE_RETURN_IF_ERROR(look_for_pauses_of_all()); break;
      case PollLoop::Wake::kEnded:
        JTRACE_RETURN_IF_ERROR(end_of(watched_[pace.ended()]));
        watch(pace);
        break;
      case PollLoop::Wake::kStopped:
      case PollLoop::Wake::kDone: return look_for_pauses_of_all();  // includes the pauses since the last look
    }
    if (std::all_of(jvms_.begin(), jvms_.end(), [](const Polled& jvm) { return jvm.ended; })) return {};
    constexpr std::uint64_t kFlushInterval = 100'000'000;  // ns: another program may follow the output
    if (const std::uint64_t now = monotonic_ns(); now - last_flush_ >= kFlushInterval) {
      last_flush_ = now;
      JTRACE_RETURN_IF_ERROR(output_.flush());
    }
  }
}

Result<> Poller::sample_all() {
  for (std::size_t i = 0; i < jvms_.size(); ++i) {
    Polled& jvm = jvms_[i];
    if (jvm.ended) continue;
    if (auto read = jvm.source.read(jvm.snapshot); !read) {
      // The process has just ended and its memory is gone; its end is seen at the next wait.
      if (jvm.source.has_ended()) continue;
      return read;
    }
    JTRACE_RETURN_IF_ERROR(look_for_pauses(i, jvm.snapshot));
    JTRACE_RETURN_IF_ERROR(output_.sample(i, jvm.snapshot));
    ++summary_.samples;
    summary_.unstable += jvm.snapshot.stable ? 0 : 1;
  }
  return {};
}

Result<> Poller::look_for_pauses_of_all() {
  for (std::size_t i = 0; i < jvms_.size(); ++i) {
    if (jvms_[i].ended || !jvms_[i].source.read_once(scratch_)) continue;
    JTRACE_RETURN_IF_ERROR(look_for_pauses(i, scratch_));
  }
  return {};
}

Result<> Poller::look_for_pauses(std::size_t index, Snapshot& snapshot) {
  Polled& jvm = jvms_[index];
  const auto before = static_cast<std::int64_t>(snapshot.monotonic_ns);
  const std::vector<GcPause>& pauses = jvm.tracker.observe(snapshot);
  const std::int64_t earlier = std::exchange(jvm.last_look, before);
  summary_.missed += jvm.tracker.newly_missed();
  if (pauses.empty() && jvm.tracker.newly_missed() == 0) return {};
  // The previous look did not see this exit.
  const auto after = before + static_cast<std::int64_t>(snapshot.read_ns);
  for (const GcPause& pause : pauses) jvm.clock.observe(pause.exit, earlier, after);
  summary_.pauses += static_cast<std::int64_t>(pauses.size());
  return output_.pauses(index, jvm.tracker, pauses, snapshot, jvm.clock, anchor());
}

Result<> Poller::end_of(std::size_t index) {
  Polled& jvm = jvms_[index];
  jvm.ended = true;
  report_("JVM " + std::to_string(jvm.source.pid()) + " has ended");
  // The file outlives its process through our descriptor: it has the last values.
  if (jvm.source.file() && jvm.source.read(jvm.snapshot)) {
    JTRACE_RETURN_IF_ERROR(look_for_pauses(index, jvm.snapshot));
    JTRACE_RETURN_IF_ERROR(output_.sample(index, jvm.snapshot));
    ++summary_.samples;
  }
  return close(index);
}

Result<> Poller::close(std::size_t index) {
  Polled& jvm = jvms_[index];
  if (jvm.closed) return {};
  auto done = output_.ended(index, jvm.ended);
  jvm.closed = done.has_value();
  return done;
}

}  // namespace jtrace::perfdata
