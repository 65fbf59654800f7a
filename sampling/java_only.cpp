#include "sampling/java_only.h"

#include <algorithm>

#include "base/strings.h"

namespace jtrace::sampling {

void JavaOnly::add(const coreinspect::Walk& walk) {
  using coreinspect::Frame;
  ++stacks_;
  const auto& frames = walk.frames;
  const bool has_java = std::any_of(frames.begin(), frames.end(), [](const Frame& frame) { return frame.method; });
  if (!has_java) {
    ++left_out_;
    return;
  }
  // Native frames below, in which every thread begins, are no loss.
  const bool ends_elsewhere = !frames.front().method && frames.front().kind != coreinspect::FrameKind::kEntry;
  shortened_ += ends_elsewhere ? 1 : 0;
}

std::string JavaOnly::text() const {
  if (shortened_ == 0 && left_out_ == 0) return "";
  std::string text = "a trace has Java frames only: of " + counted(stacks_, "stack") + " ";
  if (left_out_ != 0) text += std::to_string(left_out_) + " without any " + is_are(left_out_) + " left out";
  if (left_out_ != 0 && shortened_ != 0) text += ", and ";
  if (shortened_ != 0)
    text += std::to_string(shortened_) + " in native, VM or kernel code " + (shortened_ == 1 ? "ends" : "end") +
            " with the Java caller";
  return text + "; the other formats have them";
}

}  // namespace jtrace::sampling
