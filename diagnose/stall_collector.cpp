// The step of JvmCollector about threads that wait in an allocation for a collector that works beside the program.
#include <algorithm>
#include <array>
#include <thread>

#include "coreinspect/tools/profile.h"
#include "diagnose/collectors.h"
#include "diagnose/thread_facts.h"

namespace jtrace::diagnose {
namespace {

constexpr std::size_t kLooks = 6;
constexpr std::size_t kMostThreads = 64;  // of each look
constexpr int kBlocked = 10;              // JavaThreadState

// Functions of zPageAllocator.cpp (xPageAllocator.cpp in JDK 21), shenandoahPacer.cpp, shenandoahControlThread.cpp and
// shenandoahController.cpp in which an allocation waits.
bool is_stall(std::string_view function) {
  constexpr std::array<std::string_view, 5> kFunctions = {
      "ZPageAllocator::", "XPageAllocator::", "ShenandoahPacer::pace_for_alloc", "::handle_alloc_failure",
      "ZHeap::alloc_page"};
  return std::any_of(kFunctions.begin(), kFunctions.end(),
                     [&](std::string_view each) { return function.find(each) != function.npos; });
}

std::optional<StalledThread> stall_of(const coreinspect::ThreadReport& report) {
  if (report.java.id == 0 || report.java.vm_state != kBlocked) return std::nullopt;
  for (const coreinspect::Frame& frame : report.walk.frames) {
    if (frame.method) break;
    if (!is_stall(frame.name)) continue;
    return StalledThread{
        .name = report.java.name, .function = coreinspect::frame_name(frame), .frames = frames_of(report.walk)};
  }
  return std::nullopt;
}

}  // namespace

Result<Publish> JvmCollector::look_at_allocations() {
  const std::string_view collector = inspection_->vm().collector();
  StallFact fact{.concurrent = collector == "Z" || collector == "Shenandoah"};
  std::vector<pid_t> tids;
  for (const ThreadFact& each : last_ ? last_->threads : std::vector<ThreadFact>())
    if (each.tid != 0 && each.state == "RUNNABLE" && !each.frames.empty() && tids.size() < kMostThreads)
      tids.push_back(each.tid);
  std::vector<std::chrono::nanoseconds> pauses;
  coreinspect::ThreadSampler sampler(
      *inspection_,
      {.max_stop = options_.max_stop, .native = true, .virtual_threads = false, .details = false, .locks = false});
  for (; fact.concurrent && !tids.empty() && fact.looks < kLooks; ++fact.looks) {
    std::this_thread::sleep_for(options_.interval / (2 * kLooks));
    JTRACE_ASSIGN_OR_RETURN(const coreinspect::ThreadSnapshot snapshot, sampler.take(tids));
    pauses.push_back(snapshot.pause);
    stopped_ += snapshot.pause;
    ++stops_;
    std::size_t stalled = 0;
    for (const auto& each : snapshot.threads) {
      auto stall = stall_of(each);
      if (!stall) continue;
      ++stalled;
      fact.last = std::move(stall);
    }
    fact.with_stall += stalled > 0 ? 1 : 0;
    fact.most = std::max(fact.most, stalled);
  }
  return [fact, pauses](Collected& collected) {
    for (const auto pause : pauses) add_stop(collected, pause);
    collected.facts.stalls = fact;
  };
}

}  // namespace jtrace::diagnose
