#include "perfdata/metrics_sender.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <random>

#include "base/clock.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "base/utc_text.h"

namespace jtrace::perfdata {
namespace {

constexpr char kClock[] = "%H:%M:%SZ";

double random_part() {
  static thread_local std::minstd_rand engine(static_cast<unsigned>(monotonic_ns()));
  return std::uniform_real_distribution<double>(0, 1)(engine);
}

}  // namespace

MetricsSender::MetricsSender(Options options) : options_(std::move(options)), abandon_(::eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this] { run(); });
}

MetricsSender::~MetricsSender() { (void)finish(std::chrono::milliseconds(0)); }

void MetricsSender::add(MetricsBatch batch) {
  const std::lock_guard lock(mutex_);
  kept_ += batch.body.size();
  waiting_.push_back(std::move(batch));
  while (kept_ > options_.most_kept && waiting_.size() > 1) {
    if (gap_.count == 0) say("no more samples can be kept: the oldest are lost");
    note_loss(waiting_.front());
    kept_ -= waiting_.front().body.size();
    waiting_.pop_front();
  }
  changed_.notify_all();
}

// With the mutex held.
void MetricsSender::note_loss(const MetricsBatch& batch) {
  ++totals_.lost;
  if (gap_.count++ == 0) gap_.first = batch.taken;
  gap_.last = batch.taken;
}

std::optional<MetricsBatch> MetricsSender::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return std::nullopt;
  MetricsBatch batch = std::move(waiting_.front());
  waiting_.pop_front();
  kept_ -= batch.body.size();
  return batch;
}

void MetricsSender::run() {
  while (const auto batch = next()) {
    bool done = false;
    while (!(done = try_once(*batch))) {
      // A wish of no time at all would be a loop without a pause.
      const auto least = wait_before_try(failures_, random_part());
      if (!pause(wish_ ? std::max<std::chrono::milliseconds>(*wish_, least) : least)) break;
    }
    const std::lock_guard lock(mutex_);
    if (!done) note_loss(*batch);
    if (!abandoned_) continue;
    for (const MetricsBatch& each : waiting_) note_loss(each);
    waiting_.clear();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool MetricsSender::try_once(const MetricsBatch& batch) {
  const PushOutcome outcome = outcome_of(http_post(options_.post, batch.body, abandon_.get()), realtime_ns());
  wish_ = outcome.after;
  const std::lock_guard lock(mutex_);
  totals_.rejected += outcome.rejected;
  if (outcome.kind == PushOutcome::Kind::kTaken) {
    totals_.failure.reset();
    ++totals_.sent;
    say_recovered();
    if (!outcome.reason.empty() && outcome.reason != trouble_) say(outcome.reason);
    trouble_ = outcome.reason;
    return true;
  }
  totals_.failure = outcome.category;
  ++failures_;
  const bool kept = outcome.kind == PushOutcome::Kind::kTryAgain;
  note_trouble(outcome.reason, kept);
  if (!kept) note_loss(batch);
  return !kept;
}

void MetricsSender::note_trouble(const std::string& reason, bool kept) {
  if (failures_ == 1) trouble_since_ = monotonic_ns();
  if (reason == trouble_) return;
  trouble_ = reason;
  say(reason + (kept ? ": it is tried again" : ": what was sent is lost"));
}

void MetricsSender::say_recovered() {
  if (failures_ > 0)
    say("sent again after " + duration_text((monotonic_ns() - trouble_since_) / kNanosPerSecond * kNanosPerSecond));
  failures_ = 0;
  say_gap();
}

void MetricsSender::say_gap() {
  if (gap_.count > 0)
    say("lost: " + counted(gap_.count, "sample") + " of all JVMs, taken from " +
        utc_text(static_cast<std::int64_t>(gap_.first), kClock) + " to " +
        utc_text(static_cast<std::int64_t>(gap_.last), kClock));
  gap_ = {};
}

// False when it is over. At the end there is one try at once.
bool MetricsSender::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return abandoned_ || (closed_ && !hurried_); });
  hurried_ = closed_;
  return !abandoned_;
}

SendTotals MetricsSender::finish(std::chrono::milliseconds patience) {
  if (!thread_.joinable()) return totals_;
  {
    std::unique_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
    abandoned_ = !changed_.wait_for(lock, patience, [&] { return ended_; });
    changed_.notify_all();
  }
  if (abandoned_) (void)::eventfd_write(abandon_.get(), 1);
  thread_.join();
  say_gap();
  return totals_;
}

}  // namespace jtrace::perfdata
