#include "sampling/live_top.h"

#include <algorithm>

#include "base/clock.h"
#include "base/strings.h"
#include "base/wait_readable.h"
#include "coreinspect/model/thread_reader.h"
#include "coreinspect/tools/profile.h"

namespace jtrace::sampling {
namespace {

using coreinspect::ThreadReport;

// Samples a second and processor: enough for the frame in which a busy thread is most, and little to do.
constexpr double kHz = 29;
constexpr std::uint32_t kCopied = 16'384;      // of a stack: the innermost frames are enough
constexpr std::size_t kRing = 1u << 20;        // of a processor: some 60 samples, two seconds of it
constexpr int kLooks = 3;                      // at a thread that wakes up in between
constexpr std::uint64_t kRound = 250'000'000;  // ns

std::string innermost(const coreinspect::Walk& walk) {
  const auto frame = std::find_if(walk.frames.begin(), walk.frames.end(),
                                  [](const coreinspect::Frame& each) { return each.method != nullptr; });
  return frame == walk.frames.end() ? "" : coreinspect::frame_name(*frame);
}

}  // namespace

Result<std::unique_ptr<LiveTop>> LiveTop::open(std::shared_ptr<coreinspect::Inspection> inspection) {
  JTRACE_ASSIGN_OR_RETURN(auto jvm, SampledJvm::open(inspection));
  JTRACE_ASSIGN_OR_RETURN(
      auto events, PerfEvents::open({&jvm->process()}, {.hz = kHz, .stack_bytes = kCopied, .ring_bytes = kRing}));
  // Where no descriptor is left, no look would find a thread.
  JTRACE_RETURN_IF_ERROR(jvm->process().threads());
  JTRACE_RETURN_IF_ERROR(events->start());
  return std::unique_ptr<LiveTop>(new LiveTop(std::move(inspection), std::move(jvm), std::move(events)));
}

bool LiveTop::sample_until(std::uint64_t end, int stop) {
  while (monotonic_ns() < end) {
    if (wait_readable(stop, std::min(end, monotonic_ns() + kRound))) return false;
    take_samples();
  }
  return true;
}

void LiveTop::take_samples() {
  jvm_->refresh();
  TakeRecords records;
  records.tick = [this](const SampleRecord& sample) {
    std::optional<MountedThread> carried;
    const ThreadReport report = jvm_->report_of(sample, nullptr, &carried);
    frames_.add(static_cast<pid_t>(sample.tid), innermost(report.walk));
    carried_.add(static_cast<pid_t>(sample.tid), report.java.id, carried ? carried->name : report.java.name);
  };
  events_->drain(records);
}

coreinspect::ThreadSnapshot LiveTop::read_threads() {
  coreinspect::ThreadSnapshot snapshot;
  snapshot.missing = events_->missing();
  std::map<pid_t, ThreadReport> threads;  // by their number in the VM
  const target::Process& process = jvm_->process();
  const auto tids = process.threads();
  if (!tids) snapshot.missing.push_back(tids.error().with_context("cannot list the threads").message());
  for (const pid_t tid : tids.value_or(std::vector<pid_t>())) {
    ThreadReport report;
    report.native_id = tid;
    coreinspect::add_kernel_facts(process, tid, report);
    // Without both it has just ended. A kernel may keep no times of threads.
    if (report.cpu_ns || !report.name.empty()) threads[report.native_id] = std::move(report);
  }
  coreinspect::ThreadReader reader(inspection_);
  const auto addresses = coreinspect::java_thread_addresses(inspection_.vm());
  if (!addresses) snapshot.missing.push_back(addresses.error().with_context("cannot list the Java threads").message());
  for (const target::Address address : addresses.value_or(std::vector<target::Address>())) {
    coreinspect::JavaThread java = reader.read(address);
    const auto found = threads.find(java.native_id);
    if (found == threads.end()) continue;  // it has just ended
    found->second.java = std::move(java);
    snapshot.threads.push_back(std::move(found->second));
    threads.erase(found);
  }
  for (auto& [number, report] : threads) snapshot.threads.push_back(std::move(report));
  if (reader.read_in_collection())
    snapshot.missing.push_back("a collection ran all the while: names and ids of threads may be wrong");
  add_losses(snapshot.missing);
  return snapshot;
}

// What is lost is that of the whole recording. The rings keep the oldest samples: those that are new may be missing.
void LiveTop::add_losses(std::vector<std::string>& missing) {
  const std::uint64_t lost = events_->lost(), throttled = events_->throttled();
  if (lost > lost_)
    missing.push_back(counted(lost - lost_, "sample") + " " + was_were(lost - lost_) +
                      " lost since the last look: frames may be older ones");
  if (throttled > throttled_) missing.push_back("the kernel suspended an event: frames are of fewer samples");
  lost_ = lost;
  throttled_ = throttled;
}

std::string LiveTop::frame_of_sleeper(pid_t tid, std::optional<std::uint64_t> cpu_ns) {
  const auto known = sleepers_.find(tid);
  if (cpu_ns && known != sleepers_.end() && known->second.cpu_ns == cpu_ns) return (seen_[tid] = known->second).frame;
  for (int tries = 0; tries < kLooks; ++tries) {
    const SampledJvm::Look look = jvm_->look_at(tid);
    if (look.sleep == Sleep::kWhole)
      return (seen_[tid] = {.cpu_ns = cpu_ns, .frame = innermost(look.thread.walk)}).frame;
    if (look.sleep == Sleep::kGone) break;
  }
  return "";
}

coreinspect::TopTable LiveTop::look(std::size_t rows) {
  const coreinspect::ProcessTime before = coreinspect::process_time(inspection_);
  coreinspect::ThreadSnapshot snapshot = read_threads();
  const coreinspect::ProcessTime after = coreinspect::process_time(inspection_);
  std::map<pid_t, std::pair<pid_t, std::optional<std::uint64_t>>> kernel;  // by native_id: tid, CPU time
  for (const ThreadReport& report : snapshot.threads) kernel[report.native_id] = {report.tid, report.cpu_ns};
  coreinspect::TopTable table = counter_.add(std::move(snapshot), before, after);
  for (coreinspect::TopRow& row : table.rows) {
    if (rows-- == 0) break;
    const auto& [tid, cpu_ns] = kernel[row.native_id];
    const TopFrame top = frames_.of(tid);
    row.frame = top.name;
    row.samples = top.samples;
    row.of_frame = top.of_frame;
    if (row.id != 0) {
      TopCarried::Carried carried = carried_.of(tid, row.id);
      row.carried_id = carried.id;
      row.carried_name = std::move(carried.name);
      row.carried = carried.threads;
    }
    if (!top.name.empty() || row.id == 0) continue;
    row.frame = frame_of_sleeper(tid, cpu_ns);
    if (!row.frame.empty()) row.samples = 0;  // it is not one of theirs
  }
  frames_.clear();
  carried_.clear();
  sleepers_ = std::exchange(seen_, {});
  return table;
}

}  // namespace jtrace::sampling
