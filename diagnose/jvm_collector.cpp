#include <algorithm>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "coreinspect/runtime/vm_operation.h"
#include "coreinspect/tools/kernel_threads.h"
#include "coreinspect/tools/mutex_report.h"
#include "coreinspect/tools/safepoint_report.h"
#include "diagnose/collectors.h"
#include "diagnose/cpu_share.h"
#include "diagnose/sleep_before.h"
#include "diagnose/socket_peers.h"
#include "diagnose/thread_facts.h"
#include "diagnose/vm_threads.h"

namespace jtrace::diagnose {
namespace {

constexpr int kBusyStacks = 8;                    // between two looks
constexpr int kMostStacks = 24;                   // where a thread gets a processor too seldom to move in between
constexpr std::size_t kEnoughStacks = 4;          // of each thread
constexpr std::size_t kMostBusy = 4;              // threads
constexpr std::uint64_t kRanBetween = 1'000'000;  // ns of processor time between two stacks of a thread

void add_missing(Collected& collected, const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    if (std::find(collected.missing.begin(), collected.missing.end(), line) == collected.missing.end())
      collected.missing.push_back(line);
}

// What a core lacks; files are known to be missing only when they are asked for.
void add_lacks(Collected& collected, const std::vector<std::string>& of_target) {
  collected.target_incomplete = collected.target_incomplete || !of_target.empty();
  add_missing(collected, of_target);
}

LateFact fact_of(const coreinspect::LateThread& late) {
  return {.key = late.java.id, .name = late.java.name, .why = late.why, .frame = late.frame};
}

HandshakeFact fact_of(const coreinspect::LateHandshake& handshake) {
  HandshakeFact fact{.number = handshake.number,
                     .name = handshake.name,
                     .requester = handshake.requester,
                     .all = handshake.all,
                     .since = handshake.since};
  for (const coreinspect::LateThread& each : handshake.late) fact.late.push_back(fact_of(each));
  return fact;
}

SafepointFact fact_of(const coreinspect::SafepointReport& report) {
  using From = coreinspect::SafepointState;
  SafepointFact fact{.ns = monotonic_ns(),
                     .number = report.number,
                     .since = report.since,
                     .at_least = report.at_least,
                     .operation = report.operation_name,
                     .requester = report.requester};
  if (report.known && report.lasting)
    fact.state = report.state == From::kSynchronizing  ? SafepointFact::State::kSynchronizing
                 : report.state == From::kSynchronized ? SafepointFact::State::kSynchronized
                                                       : SafepointFact::State::kNone;
  else if (report.known) fact.state = SafepointFact::State::kNone;
  if (report.locker) {
    fact.locker_wanted = report.locker->wanted;
    fact.locker_regions = report.locker->regions;
  }
  for (const coreinspect::LateThread& each : report.late) fact.late.push_back(fact_of(each));
  if (report.handshakes_known) {
    fact.handshakes.emplace();
    for (const coreinspect::LateHandshake& each : report.handshakes) fact.handshakes->push_back(fact_of(each));
  }
  return fact;
}

MutexFact::Waiter waiter_of(const coreinspect::MutexParty& party) { return {party.nid, party.name, party.switches}; }

MutexLook look_of(const coreinspect::MutexReport& report) {
  MutexLook look{.ns = monotonic_ns()};
  for (const coreinspect::MutexRow& row : report.rows) {
    if (!row.owner || row.waiters.empty()) continue;
    MutexFact fact{.name = row.name.empty() ? "native mutex " + coreinspect::hex(row.address) : row.name,
                   .owner = row.owner->name,
                   .owner_tid = row.owner->nid};
    for (const coreinspect::MutexParty& each : row.waiters) fact.waiters.push_back(waiter_of(each));
    look.held.push_back(std::move(fact));
  }
  for (const auto& circle : report.circles) {
    auto& waiters = look.circles.emplace_back();
    for (const coreinspect::MutexParty& each : circle) waiters.push_back(waiter_of(each));
  }
  return look;
}

}  // namespace

void add_stop(Collected& collected, std::chrono::nanoseconds pause) {
  if (pause.count() == 0) return;
  ++collected.stops;
  collected.pause_all += pause;
  collected.pause_longest = std::max(collected.pause_longest, pause);
}

Result<Publish> JvmCollector::open() {
  JTRACE_ASSIGN_OR_RETURN(inspection_, open_());
  // Compiled code calls some native code like its own (System.currentTimeMillis): only native frames lead back to
  // Java's.
  const coreinspect::SnapshotOptions snapshot{.max_stop = options_.max_stop, .native = true};
  sampler_.emplace(*inspection_, snapshot);
  std::vector<std::string> missing;
  if (!inspection_->healthy())
    missing.push_back("locks and names of threads: " + inspection_->healthy().error().message());
  return [release = inspection_->vm().release(), feature = inspection_->vm().feature(), missing,
          lacks = inspection_->missing()](Collected& collected) {
    add_lacks(collected, lacks);
    collected.facts.release = release;
    collected.facts.feature = feature;
    add_missing(collected, missing);
  };
}

Result<Publish> JvmCollector::look_at_threads() {
  const target::Process* process = inspection_->target().process();
  const SleepBefore asleep = process && !last_ ? SleepBefore::read(*process) : SleepBefore();
  JTRACE_ASSIGN_OR_RETURN(const coreinspect::ThreadSnapshot snapshot, sampler_->take());
  before_ = std::move(last_);
  last_ = facts_of(*inspection_, snapshot);
  asleep.note_in(*last_);
  if (process) SocketPeers(*process, inspection_->target().memory()).note_in(*last_);
  last_->stopped += std::exchange(stopped_, {});
  last_->stops += std::exchange(stops_, 0);
  return [look = *last_, crash = crash_of(*inspection_, snapshot), missing = snapshot.missing,
          lacks = inspection_->missing()](Collected& collected) {
    add_lacks(collected, lacks);
    if (crash) collected.facts.crash = crash;
    add_stop(collected, look.pause);
    add_missing(collected, missing);
    collected.facts.looks.push_back(look);
  };
}

std::vector<JvmCollector::Busy> JvmCollector::busy_threads() const {
  std::vector<Busy> busy;
  if (!before_ || !last_) return busy;
  for (const ThreadFact& each : last_->threads) {
    const ThreadFact* then = before_->find(each.key);
    if (each.tid == 0 || each.frames.empty() || !then || !never_waits(*then, each, *last_)) continue;
    busy.push_back({each.key, each.tid});
    if (busy.size() == kMostBusy) break;
  }
  return busy;
}

bool JvmCollector::vm_thread_is_busy() const {
  if (!before_ || !last_) return false;
  return std::any_of(last_->threads.begin(), last_->threads.end(), [&](const ThreadFact& each) {
    if (vm_thread_named(each.name).work != VmWork::kOperations) return false;
    const auto share = share_of_thread(*before_, *last_, each.tid);
    return share && share->wanted() >= kMostOfProcessor;
  });
}

OperationsFact JvmCollector::look_at_operations() const {
  constexpr std::size_t kLooks = 20;
  constexpr std::chrono::milliseconds kBetween{7};
  const coreinspect::Vm& vm = inspection_->vm();
  const coreinspect::VmSymbols symbols(inspection_->target());
  const coreinspect::KernelThreads threads(vm);
  const coreinspect::KernelThread* vm_thread = threads.named("VM Thread");
  const auto operations = coreinspect::VmOperations::find(vm, symbols, vm_thread ? vm_thread->nstid : 0);
  OperationsFact fact;
  for (; operations && fact.looks < kLooks; ++fact.looks) {
    if (const auto now = operations->now(); now && *now)
      if (const std::string name = operations->name(**now); !name.empty()) ++fact.seen[name];
    std::this_thread::sleep_for(kBetween);
  }
  return fact;
}

Result<Publish> JvmCollector::look_at_busy_threads() {
  const OperationsFact operations = vm_thread_is_busy() ? look_at_operations() : OperationsFact();
  const std::vector<Busy> busy = busy_threads();
  BusyStacks stacks;
  std::map<ThreadKey, std::uint64_t> ran;
  std::vector<std::chrono::nanoseconds> pauses;
  std::vector<pid_t> tids;
  for (const Busy& each : busy) tids.push_back(each.tid);
  coreinspect::ThreadSampler sampler(
      *inspection_, {.max_stop = options_.max_stop, .native = true, .virtual_threads = false, .locks = false});
  const auto has_enough = [&](const Busy& each) { return stacks[each.key].size() >= kEnoughStacks; };
  for (int i = 0; i < kMostStacks && !tids.empty(); ++i) {
    if (i >= kBusyStacks && std::all_of(busy.begin(), busy.end(), has_enough)) break;
    std::this_thread::sleep_for(options_.interval / (kBusyStacks + 4));
    JTRACE_ASSIGN_OR_RETURN(const coreinspect::ThreadSnapshot snapshot, sampler.take(tids));
    pauses.push_back(snapshot.pause);
    stopped_ += snapshot.pause;
    ++stops_;
    for (const auto& each : snapshot.threads) {
      if (each.java.id == 0 || each.walk.incomplete() || !each.cpu_ns) continue;
      // A thread that did not get a processor since the last stack has not moved, which proves nothing.
      if (*each.cpu_ns < ran[each.java.id] + kRanBetween) continue;
      ran[each.java.id] = *each.cpu_ns;
      stacks[each.java.id].push_back(frames_of(*inspection_, each.walk));
    }
  }
  return [stacks = std::move(stacks), pauses = std::move(pauses), operations](Collected& collected) {
    collected.facts.operations = operations;
    for (const auto pause : pauses) add_stop(collected, pause);
    collected.facts.busy = stacks;
  };
}

Result<Publish> JvmCollector::look_at_safepoint() {
  if (coreinspect::CachedMemory* cached = inspection_->vm().cached_memory()) cached->reset();
  const auto report = coreinspect::report_safepoint(*inspection_, {.max_stop = options_.max_stop});
  return [fact = fact_of(report), missing = report.missing, lacks = inspection_->missing()](Collected& collected) {
    add_lacks(collected, lacks);
    collected.facts.safepoints.push_back(fact);
    add_missing(collected, missing);
  };
}

// Both looks in one step: stops for stacks in between would make the waiting threads run.
Result<Publish> JvmCollector::look_at_mutexes() {
  const auto look = [&] {
    if (coreinspect::CachedMemory* cached = inspection_->vm().cached_memory()) cached->reset();
    return coreinspect::report_mutexes(*inspection_);
  };
  const coreinspect::MutexReport report = look();
  const MutexLook first = look_of(report);
  MutexLook second = first;
  if (inspection_->target().process() && (!first.held.empty() || !first.circles.empty())) {
    constexpr std::chrono::milliseconds kLeast{300};  // on a busy machine an owner may have no processor for 100 ms
    std::this_thread::sleep_for(std::max(options_.interval / 3, kLeast));
    second = look_of(look());
  }
  return [looks = std::vector{first, second}, missing = report.missing,
          lacks = inspection_->missing()](Collected& collected) {
    add_lacks(collected, lacks);
    collected.facts.mutexes = looks;
    add_missing(collected, missing);
  };
}

}  // namespace jtrace::diagnose
