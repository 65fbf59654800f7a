#include "sampling/profile_counts.h"

#include "coreinspect/tools/profile.h"

namespace jtrace::sampling {

void ProfileCounts::add(const coreinspect::ThreadReport& report, std::uint64_t weight) {
  stack_.clear();
  stack_.push_back(number_of(coreinspect::thread_label(report)));
  if (report.walk.incomplete()) stack_.push_back(number_of(coreinspect::kCutStack));
  for (auto frame = report.walk.frames.rbegin(); frame != report.walk.frames.rend(); ++frame)
    if (frame->kind != coreinspect::FrameKind::kEntry) stack_.push_back(number_of(coreinspect::frame_name(*frame)));
  Count& count = stacks_[stack_];
  ++count.samples;
  count.weight += weight;
  ++total_.samples;
  total_.weight += weight;
}

std::uint32_t ProfileCounts::number_of(std::string_view name) {
  const auto [known, fresh] = numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (fresh) names_.emplace_back(name);
  return known->second;
}

}  // namespace jtrace::sampling
