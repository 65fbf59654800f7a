#include "sampling/sampler.h"

#include <optional>
#include <set>

#include "base/clock.h"
#include "base/wait_readable.h"
#include "sampling/ended_jvms.h"
#include "sampling/sampled_jvm.h"
#include "sampling/sleepers.h"
#include "sampling/split_waits.h"
#include "sampling/wait_tracker.h"
#include "sampling/waker_names.h"
#include "target/process_cpu.h"

namespace jtrace::sampling {
namespace {

// ns between two reads of the rings. What was read of the target is used for all samples of a round; code that has just
// run is not freed so soon. A ring is at most a quarter full after a round. Switches may come at any rate.
constexpr std::uint64_t kLongestRound = 100'000'000, kSwitchRound = 20'000'000;
constexpr std::size_t kRecordBytes = 1024;  // of a sample, beside its stack
// A record that was stamped longer ago than this is in its ring.
constexpr std::uint64_t kWritten = 1'000'000;
constexpr std::uint64_t kMoment = 1'000;  // ns
// ns for looks at sleeping threads: before the recording, without the first, which reads the JVM's symbols too; and at
// its end.
constexpr std::uint64_t kLookAhead = 500'000'000, kLastLooks = 50'000'000;

std::uint64_t round_of(const EventOptions& options, std::size_t ring_bytes) {
  const double filled = static_cast<double>(ring_bytes) / (options.hz * (options.stack_bytes + kRecordBytes));
  return std::min(options.switches ? kSwitchRound : kLongestRound, static_cast<std::uint64_t>(filled / 4 * 1e9));
}

using coreinspect::ThreadReport;

using Jvms = std::map<pid_t, std::unique_ptr<SampledJvm>>;

// What is read of a thread's stack takes too long for a recording that has begun, above all the first time, and on a
// busy machine.
Sleepers look_ahead(const Jvms& jvms) {
  Sleepers sleepers;
  std::uint64_t due = UINT64_MAX;
  for (const auto& [pid, jvm] : jvms)
    for (const pid_t tid : jvm->process().threads().value_or(std::vector<pid_t>())) {
      if (monotonic_ns() >= due) return sleepers;
      sleepers.look(*jvm, tid);
      (void)jvm->name_of(tid);  // of one that runs: it may have ended when its first wait is decoded
      if (due == UINT64_MAX) due = monotonic_ns() + kLookAhead;
    }
  return sleepers;
}

constexpr const char* kNoStack = "the stack at the beginning of the wait is not known";

}  // namespace

class Sampler::Impl {
 public:
  Impl(const SamplerOptions& options, std::unique_ptr<PerfEvents> events, Jvms jvms, Sleepers sleepers)
      : options_(options), events_(std::move(events)), jvms_(std::move(jvms)), sleepers_(std::move(sleepers)) {
    summary_.jvms = jvms_.size();
    if (options_.events.switches) open_wakeups();
  }

  Result<SamplerSummary> run(int stop, const TakeStack& take) {
    if (events_->with_kernel()) kernel_.emplace(KernelNames::of_this_machine());
    round_time_ = round_of(options_.events, events_->ring_bytes());
    stop_ = stop;
    start_wakeups();
    JTRACE_RETURN_IF_ERROR(events_->start());
    begin_ = monotonic_ns();
    for (const auto& [pid, jvm] : jvms_) read_cpu_[pid] = target::process_cpu_ns(pid);
    if (options_.duration.count() != 0) end_ = begin_ + static_cast<std::uint64_t>(options_.duration.count());
    if (options_.started) options_.started();
    if (options_.events.switches) JTRACE_RETURN_IF_ERROR(begin_waits(take));
    while (!summary_.target_ended && monotonic_ns() < end_) {
      if (wait_readable(stop, std::min(end_, monotonic_ns() + round_time_))) break;
      find_ended();
      JTRACE_ASSIGN_OR_RETURN(const std::uint64_t until, live_round(take));
      forget(ended_.taken(until));
      if (options_.each_round) JTRACE_RETURN_IF_ERROR(options_.each_round());
      JTRACE_RETURN_IF_ERROR(look_for_newcomers(take));
    }
    if (waits_) look_at_stackless();
    events_->stop();
    if (wakeups_) wakeups_->stop();
    const std::uint64_t stopped = monotonic_ns();
    read_clocks();
    JTRACE_ASSIGN_OR_RETURN(const std::uint64_t complete, round(take, stopped));
    if (waits_ && complete < stopped) waits_->lost(std::max(begin_, complete), stopped);
    if (waits_) JTRACE_RETURN_IF_ERROR(end_waits(stopped, take));
    summary_.elapsed = std::chrono::nanoseconds(stopped - begin_);
    for (const auto& [pid, jvm] : jvms_) summary_.unnamed += jvm->unnamed();
    summary_.lost = events_->lost();
    summary_.throttled = events_->throttled();
    summary_.missing = events_->missing();
    if (wakeups_) summary_.lost_wakers = wakeups_->lost();
    return std::move(summary_);
  }
  const PerfEvents& events() const { return *events_; }
  const std::string& no_wakers() const { return summary_.no_wakers; }

 private:
  // Without them the waits are still known.
  void open_wakeups() {
    auto opened = Wakeups::open();
    if (opened) wakeups_ = std::move(*opened);
    else summary_.no_wakers = opened.error().message();
  }
  void start_wakeups() {
    const auto started = wakeups_ ? wakeups_->start() : Result<>();
    if (started) return;
    wakeups_.reset();
    summary_.no_wakers = started.error().message();
  }
  // At the end: those that have no sample of the wait's beginning. The rings fill meanwhile.
  void look_at_stackless() {
    const std::uint64_t due = monotonic_ns() + kLastLooks;
    for (const WaitTracker::WaitingThread& each : waits_->stackless()) {
      const std::uint64_t now = monotonic_ns();
      if (now >= due) return;
      if (sleepers_.stack_of({.tid = each.tid, .begin = each.since, .end = now})) continue;
      SampledJvm* jvm = jvm_of(each.pid);
      const auto tid = static_cast<pid_t>(each.tid);
      if (jvm && !sleepers_.still_sleeps(*jvm, tid)) sleepers_.look(*jvm, tid);
    }
  }
  Result<> begin_waits(const TakeStack& take) {
    const auto ended = [this](std::uint32_t tid) {
      sleepers_.forget(tid);
      split_waits_.ended(tid);
      for (const auto& [pid, jvm] : jvms_) jvm->forget_thread(static_cast<pid_t>(tid));
    };
    const auto name = [this](const Wakeup& wakeup, std::uint32_t pid) {
      return wakers_.name(wakeup, static_cast<pid_t>(pid));
    };
    waits_.emplace(static_cast<std::uint64_t>(options_.least.count()), ended, name);
    std::vector<std::pair<SampledJvm*, std::vector<pid_t>>> threads;
    for (const auto& [pid, jvm] : jvms_) threads.emplace_back(jvm.get(), begin_threads(*jvm, begin_));
    for (const auto& [jvm, tids] : threads) JTRACE_RETURN_IF_ERROR(look_at_sleepers(*jvm, tids, take));
    return {};
  }
  std::vector<pid_t> begin_threads(const SampledJvm& jvm, std::uint64_t begin) {
    std::vector<pid_t> tids = jvm.process().threads().value_or(std::vector<pid_t>());
    std::erase_if(tids, [&](pid_t tid) { return !events_->has_events(tid); });  // nothing would report its wait's end
    for (const pid_t tid : tids)
      waits_->existed(static_cast<std::uint32_t>(jvm.process().pid()), static_cast<std::uint32_t>(tid), begin);
    return tids;
  }
  // First those that were looked at before the recording. The others have run since, or there was no time for them.
  Result<> look_at_sleepers(SampledJvm& jvm, const std::vector<pid_t>& tids, const TakeStack& take) {
    std::uint64_t round_due = monotonic_ns() + round_time_;
    std::vector<pid_t> others;
    for (const pid_t tid : tids) {
      if (!sleepers_.still_sleeps(jvm, tid)) others.push_back(tid);
      JTRACE_ASSIGN_OR_RETURN(const bool go_on, drain_between_looks(take, round_due));
      if (!go_on) return {};
    }
    for (const pid_t tid : others) {
      const Sleep sleep = sleepers_.look(jvm, tid);
      if (sleep == Sleep::kNone) waits_->ran(static_cast<std::uint32_t>(tid), monotonic_ns());
      JTRACE_ASSIGN_OR_RETURN(const bool go_on, drain_between_looks(take, round_due));
      if (!go_on) return {};
    }
    return {};
  }
  // With many threads the looks take longer than a ring has room for. False: the recording is to end.
  Result<bool> drain_between_looks(const TakeStack& take, std::uint64_t& due) {
    if (monotonic_ns() < due) return true;
    JTRACE_RETURN_IF_ERROR(live_round(take));
    due = monotonic_ns() + round_time_;
    return !wait_readable(stop_, monotonic_ns() + kMoment) && monotonic_ns() < end_;
  }

  void find_ended() {
    for (const auto& [pid, jvm] : jvms_)
      if (jvm->process().has_exited()) ended_.add(pid, monotonic_ns());
  }
  void forget(const std::vector<pid_t>& ended) {
    for (const pid_t pid : ended) {
      summary_.unnamed += jvms_[pid]->unnamed();
      events_->remove(pid);
      jvms_.erase(pid);
    }
    summary_.target_ended = jvms_.empty() && !options_.newcomers;
  }
  Result<> look_for_newcomers(const TakeStack& take) {
    if (!options_.newcomers || monotonic_ns() - looked_for_newcomers_ < kNanosPerSecond) return {};
    for (std::shared_ptr<coreinspect::Inspection>& inspection : options_.newcomers())
      JTRACE_RETURN_IF_ERROR(add(std::move(inspection), take));
    looked_for_newcomers_ = monotonic_ns();
    return {};
  }
  // One that cannot be sampled is not asked for again: that is up to `newcomers`.
  Result<> add(std::shared_ptr<coreinspect::Inspection> inspection, const TakeStack& take) {
    const pid_t pid = inspection->target().process()->pid();
    auto jvm = SampledJvm::open(std::move(inspection));
    const auto added = jvm ? events_->add((*jvm)->process()) : fail(jvm.error());
    if (!added) {
      if (options_.left_out) options_.left_out(pid, added.error());
      return {};
    }
    const auto& newcomer = jvms_[pid] = std::move(*jvm);
    ++summary_.jvms;
    read_cpu_[pid] = target::process_cpu_ns(pid);
    return waits_ ? look_at_sleepers(*newcomer, begin_threads(*newcomer, monotonic_ns()), take) : Result<>();
  }

  // Returns up to when waits were taken.
  Result<std::uint64_t> live_round(const TakeStack& take) {
    read_clocks();
    return round(take, monotonic_ns() - kWritten);
  }
  // One that has ended keeps what it had.
  void read_clocks() {
    for (const auto& [pid, jvm] : jvms_) {
      auto& before = read_cpu_[pid];
      const auto now = target::process_cpu_ns(pid);
      if (before && now && *now > *before) summary_.used += std::chrono::nanoseconds(*now - *before);
      if (now) before = now;
    }
  }
  // `until`: waits that ended later are left for the next round, because what belongs to them may not be there yet.
  Result<std::uint64_t> round(const TakeStack& take, std::uint64_t until) {
    const std::uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    fresh_.clear();
    Result<> result;
    TakeRecords records;
    records.tick = [&](const SampleRecord& sample) {
      if (result) result = take_tick(sample, take);
    };
    records.named = [&](const NameRecord& record) {
      const auto jvm = jvms_.find(static_cast<pid_t>(record.pid));
      if (jvm != jvms_.end()) jvm->second->thread_named(static_cast<pid_t>(record.tid), record.name);
    };
    if (waits_) {
      records.leaves = [&](const SampleRecord& sample) { waits_->add(sample); };
      records.switched = [&](const SwitchRecord& record) { waits_->add(record); };
      records.ended = [&](std::uint32_t tid, std::uint64_t time) { waits_->ended(tid, time); };
      records.lost = [&](std::uint64_t from, std::uint64_t to) { waits_->lost(std::max(begin_, from), to); };
    }
    until = std::min(until, events_->drain(records));
    if (wakeups_) wakeups_->drain([&](const Wakeup& wakeup) { waits_->add(wakeup); });
    if (waits_)
      waits_->advance(until, [&](const Wait& wait) {
        if (result) result = take_wait(wait, take);
      });
    if (waits_) look_at_locks();
    summary_.decoding += std::chrono::nanoseconds(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before);
    if (!result) return fail(result.error());
    return until;
  }

  void look_at_locks() {
    std::map<SampledJvm*, std::map<pid_t, target::Address>> waiting;
    waits_->find_ownerless(monotonic_ns(), [&](std::uint32_t pid, std::uint32_t tid, std::uint64_t sp) {
      SampledJvm* jvm = jvm_of(pid);
      if (!jvm || !jvm->may_look_at_locks()) return false;
      waiting[jvm][static_cast<pid_t>(tid)] = sp;
      return true;
    });
    for (const auto& [jvm, tids] : waiting)
      for (auto& [tid, owner] : jvm->owners_of(tids)) waits_->owner(static_cast<std::uint32_t>(tid), std::move(owner));
  }

  // Null if it has ended.
  SampledJvm* jvm_of(std::uint32_t pid) {
    const auto found = jvms_.find(static_cast<pid_t>(pid));
    if (found == jvms_.end()) return nullptr;
    if (fresh_.insert(found->first).second) found->second->refresh();
    return found->second.get();
  }

  Result<> take_tick(const SampleRecord& sample, const TakeStack& take) {
    SampledJvm* jvm = jvm_of(sample.pid);
    if (!jvm) return {};
    const ThreadReport report = jvm->report_of(sample, kernel());
    summary_.stacks.add(report.walk, &sample);
    summary_.sampled += std::chrono::nanoseconds(sample.period);
    return take({.thread = report, .process = jvm->process(), .time = sample.time, .weight = sample.period});
  }

  Result<> take_wait(const Wait& wait, const TakeStack& take) {
    SampledJvm* jvm = jvm_of(wait.pid);
    if (!jvm) return {};
    const ThreadReport report = report_of(wait, *jvm);
    const WaitKind kind = wait.preempted ? WaitKind::kRunQueue : wait_kind_of(report.walk);
    WaitParties parties = parties_of(wait, kind, report.walk);
    EarlierPart earlier = split_waits_.earlier_part(wait, kind, parties.owner);
    return take({.thread = report,
                 .process = jvm->process(),
                 .time = wait.begin,
                 .weight = wait.length(),
                 .wait = kind,
                 .parties = std::move(parties),
                 .earlier = std::move(earlier)});
  }
  WaitParties parties_of(const Wait& wait, WaitKind kind, const coreinspect::Walk& walk) {
    WaitParties parties;
    const bool has_owner =
        wait.owner || kind == WaitKind::kMonitor || (kind == WaitKind::kPark && parks_for_lock(walk));
    if (wait.owner && !wait.owner->name.empty()) parties.owner = wait.owner->name;
    else if (has_owner) parties.owner = kNotSeen;
    if (!wakeups_ || wait.preempted) return parties;
    // Who ends the rest of it has ended this part.
    if (!SplitWaits::may_go_on(wait, kind))
      parties.waker = wait.still ? kStillWaits : wait.waker ? *wait.waker : kNotSeen;
    return parties;
  }
  std::string name_in_jvm(pid_t pid, pid_t tid) {
    const auto jvm = jvms_.find(pid);
    return jvm == jvms_.end() ? "" : jvm->second->name_of(tid);
  }
  ThreadReport report_of(const Wait& wait, SampledJvm& jvm) {
    if (wait.at) {
      ThreadReport report = jvm.report_of(*wait.at, kernel());
      summary_.stacks.add(report.walk, wait.at);
      return report;
    }
    if (const ThreadReport* known = sleepers_.stack_of(wait)) {
      summary_.stacks.add(known->walk, nullptr);
      return *known;
    }
    summary_.stacks.add_missing();
    return jvm.without_stack(static_cast<pid_t>(wait.tid), kNoStack);
  }
  Result<> end_waits(std::uint64_t end, const TakeStack& take) {
    Result<> result;
    waits_->finish(end, [&](const Wait& wait) {
      if (result) result = take_wait(wait, take);
    });
    summary_.brief = waits_->brief();
    summary_.brief_time = std::chrono::nanoseconds(waits_->brief_ns());
    summary_.broken = waits_->broken();
    summary_.blind = std::chrono::nanoseconds(waits_->blind_ns());
    return result;
  }

  const KernelNames* kernel() const { return kernel_ ? &*kernel_ : nullptr; }

  const SamplerOptions options_;
  std::unique_ptr<PerfEvents> events_;
  Jvms jvms_;
  Sleepers sleepers_;
  std::map<pid_t, std::optional<std::uint64_t>> read_cpu_;  // of each process, ns, when it was read last
  EndedJvms ended_;
  std::set<pid_t> fresh_;  // whose memory was looked at in this round
  std::optional<KernelNames> kernel_;
  std::optional<WaitTracker> waits_;
  SplitWaits split_waits_;
  std::unique_ptr<Wakeups> wakeups_;  // null: they are not known
  WakerNames wakers_{[this](pid_t pid, pid_t tid) { return name_in_jvm(pid, tid); }, name_of_process};
  std::uint64_t looked_for_newcomers_ = 0;
  std::uint64_t begin_ = 0, end_ = UINT64_MAX, round_time_ = 0;  // CLOCK_MONOTONIC, ns
  int stop_ = -1;
  SamplerSummary summary_;
};

Sampler::Sampler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sampler::~Sampler() = default;
const PerfEvents& Sampler::events() const { return impl_->events(); }
const std::string& Sampler::no_wakers() const { return impl_->no_wakers(); }
Result<SamplerSummary> Sampler::run(int stop, const TakeStack& take) { return impl_->run(stop, take); }

Result<std::unique_ptr<Sampler>> Sampler::open(const std::vector<std::shared_ptr<coreinspect::Inspection>>& inspections,
                                               const SamplerOptions& options) {
  Jvms jvms;
  std::vector<const target::Process*> processes;
  std::map<pid_t, Error> left_out;
  for (const std::shared_ptr<coreinspect::Inspection>& inspection : inspections) {
    auto jvm = SampledJvm::open(inspection);
    if (!jvm) {
      const target::Process* process = inspection->target().process();
      left_out[process ? process->pid() : 0] = jvm.error();
      if (left_out.size() == inspections.size()) return fail(jvm.error());
      continue;
    }
    processes.push_back(&(*jvm)->process());
    jvms[(*jvm)->process().pid()] = std::move(*jvm);
  }
  // Before the events: of a thread that starts between them and the recording no wait is known.
  Sleepers sleepers;
  if (options.events.switches) sleepers = look_ahead(jvms);
  JTRACE_ASSIGN_OR_RETURN(auto events, PerfEvents::open(processes, options.events));
  for (const auto& [pid, error] : events->left_out()) {
    left_out[pid] = error;
    jvms.erase(pid);
  }
  for (const auto& [pid, error] : left_out)
    if (options.left_out) options.left_out(pid, error);
  return std::unique_ptr<Sampler>(
      new Sampler(std::make_unique<Impl>(options, std::move(events), std::move(jvms), std::move(sleepers))));
}

}  // namespace jtrace::sampling
