#include "sampling/profile_counts.h"

#include <algorithm>

#include "coreinspect/tools/profile.h"
#include "sampling/kernel_names.h"

namespace jtrace::sampling {
namespace {

ProfileCounts::Kind kind_of(const coreinspect::Frame& frame) {
  if (frame.kind != coreinspect::FrameKind::kNative) return ProfileCounts::Kind::kJava;
  return frame.module == kKernelModule ? ProfileCounts::Kind::kKernel : ProfileCounts::Kind::kNative;
}

}  // namespace

void ProfileCounts::add(const coreinspect::ThreadReport& report, std::uint64_t weight, WaitKind wait,
                        std::string_view process, const WaitParties& parties, const EarlierPart& earlier) {
  stack_.clear();
  if (shape_.processes) stack_.push_back(number_of(process, Kind::kThread));
  stack_.push_back(number_of(coreinspect::thread_label(report), Kind::kThread));
  if (wait != WaitKind::kNone) stack_.push_back(number_of(to_string(wait), Kind::kThread));
  if (report.walk.incomplete()) stack_.push_back(number_of(coreinspect::kCutStack, Kind::kThread));
  for (auto frame = report.walk.frames.rbegin(); frame != report.walk.frames.rend(); ++frame)
    if (frame->kind != coreinspect::FrameKind::kEntry)
      stack_.push_back(number_of(coreinspect::frame_name(*frame), kind_of(*frame)));
  Count& count = stacks_[stack_];
  const std::uint64_t one = earlier.ns == 0 ? 1 : 0;
  count.samples += one;
  count.weight += weight;
  count.longest = std::max(count.longest, earlier.ns + weight);
  if (!parties.none()) parties_[stack_].add(parties, weight, earlier);
  total_.samples += one;
  total_.weight += weight;
}

std::uint32_t ProfileCounts::number_of(std::string_view name, Kind kind) {
  const auto [known, fresh] = numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (fresh) {
    names_.emplace_back(name);
    kinds_.push_back(kind);
  }
  return known->second;
}

}  // namespace jtrace::sampling
