#include "sampling/sampler.h"

#include <optional>

#include "base/clock.h"
#include "base/wait_readable.h"
#include "coreinspect/tools/copied_stack.h"
#include "sampling/kernel_names.h"
#include "sampling/sampled_threads.h"

namespace jtrace::sampling {
namespace {

// ns between two reads of the rings. What was read of the target is used for all samples of a round; code that has just
// run is not freed so soon. A ring is at most a quarter full after a round.
constexpr std::uint64_t kLongestRound = 100'000'000;
constexpr std::size_t kRecordBytes = 1024;  // of a sample, beside its stack

std::uint64_t round_of(const EventOptions& options, std::size_t ring_bytes) {
  const double filled = static_cast<double>(ring_bytes) / (options.hz * (options.stack_bytes + kRecordBytes));
  return std::min(kLongestRound, static_cast<std::uint64_t>(filled / 4 * 1e9));
}

using coreinspect::Frame;
using coreinspect::FrameKind;
using coreinspect::Walk;

// Why a stack is incomplete. A small number of texts, because they are counted.
std::string cause_of(const Walk& walk, const SampleRecord& sample) {
  if (!sample.has_registers) return "the thread was ending";
  if (walk.beyond)
    return sample.stack_is_full ? "deeper than the copy (--stack-size)" : "a page of the stack was not in memory";
  if (walk.stopped.find("virtual thread") != std::string::npos) return "a virtual thread's frames in the heap";
  if (walk.stopped.find("freed code") != std::string::npos) return "code that was freed in the meantime";
  return !walk.frames.empty() && walk.frames.back().kind == FrameKind::kNative ? "in native code" : "in generated code";
}

}  // namespace

class Sampler::Impl {
 public:
  Impl(coreinspect::Inspection& inspection, const SamplerOptions& options, std::unique_ptr<PerfEvents> events,
       std::unique_ptr<coreinspect::CopiedStackWalker> walker)
      : process_(*inspection.target().process()),
        options_(options),
        events_(std::move(events)),
        walker_(std::move(walker)),
        threads_(inspection) {}

  Result<SamplerSummary> run(int stop, const TakeStack& take) {
    if (events_->with_kernel()) kernel_.emplace(KernelNames::of_this_machine());
    const std::uint64_t begin = monotonic_ns();
    const std::uint64_t end =
        options_.duration.count() == 0 ? UINT64_MAX : begin + static_cast<std::uint64_t>(options_.duration.count());
    const std::uint64_t round_time = round_of(options_.events, events_->ring_bytes());
    JTRACE_RETURN_IF_ERROR(events_->start());
    while (!summary_.target_ended && monotonic_ns() < end) {
      if (wait_readable(stop, std::min(end, monotonic_ns() + round_time))) break;
      summary_.target_ended = process_.has_exited();
      JTRACE_RETURN_IF_ERROR(round(take));
    }
    events_->stop();
    JTRACE_RETURN_IF_ERROR(round(take));
    summary_.elapsed = std::chrono::nanoseconds(monotonic_ns() - begin);
    summary_.lost = events_->lost();
    summary_.throttled = events_->throttled();
    return std::move(summary_);
  }
  const PerfEvents& events() const { return *events_; }

 private:
  Result<> round(const TakeStack& take) {
    const std::uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    Result<> result;
    bool fresh = false;
    events_->drain([&](const SampleRecord& sample) {
      if (!fresh) walker_->refresh();
      fresh = true;
      if (result) result = take_sample(sample, take);
    });
    summary_.decoding += std::chrono::nanoseconds(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before);
    return result;
  }

  Result<> take_sample(const SampleRecord& sample, const TakeStack& take) {
    const target::Address sp = sample.has_registers ? sample.registers.sp() : 0;
    coreinspect::ThreadReport report = threads_.of(static_cast<pid_t>(sample.tid), sp);
    ++summary_.samples;
    add_kernel_frames(sample, report.walk);
    if (!sample.has_registers) {
      report.walk.stopped = "it has no registers in user space any more";
    } else {
      Walk user = walker_->walk_next(sample.registers, sp, sample.stack);
      for (Frame& frame : user.frames) report.walk.frames.push_back(std::move(frame));
      report.walk.stopped = std::move(user.stopped);
      report.walk.beyond = user.beyond;
      report.walk.native_bottom = user.native_bottom;
    }
    if (report.walk.incomplete()) ++summary_.cut[cause_of(report.walk, sample)];
    return take(report, sample.time, sample.period);
  }

  void add_kernel_frames(const SampleRecord& sample, Walk& walk) const {
    if (!kernel_ || sample.kernel.empty()) return;
    const auto add = [&](std::uint64_t pc, const std::string& name) {
      walk.frames.push_back({.kind = FrameKind::kNative, .pc = pc, .name = name, .module = kKernelModule});
    };
    if (!kernel_->known()) return add(sample.kernel[0], kKernelModule);
    for (std::size_t i = 0; i < sample.kernel.size(); ++i)
      add(sample.kernel[i], kernel_->name_at(sample.kernel[i] - (i == 0 ? 0 : 1)) + "_[k]");
  }

  const target::Process& process_;
  const SamplerOptions options_;
  std::unique_ptr<PerfEvents> events_;
  std::unique_ptr<coreinspect::CopiedStackWalker> walker_;
  SampledThreads threads_;
  std::optional<KernelNames> kernel_;
  SamplerSummary summary_;
};

Sampler::Sampler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sampler::~Sampler() = default;
const PerfEvents& Sampler::events() const { return impl_->events(); }
Result<SamplerSummary> Sampler::run(int stop, const TakeStack& take) { return impl_->run(stop, take); }

Result<std::unique_ptr<Sampler>> Sampler::open(coreinspect::Inspection& inspection, const SamplerOptions& options) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  const target::Process* process = inspection.target().process();
  if (!process) return fail(ErrorCategory::kUsage, "a core does not run: it cannot be profiled", "jtrace stack CORE");
  JTRACE_ASSIGN_OR_RETURN(auto walker, coreinspect::CopiedStackWalker::open(inspection));
  JTRACE_ASSIGN_OR_RETURN(auto events, PerfEvents::open(*process, options.events));
  return std::unique_ptr<Sampler>(
      new Sampler(std::make_unique<Impl>(inspection, options, std::move(events), std::move(walker))));
}

}  // namespace jtrace::sampling
