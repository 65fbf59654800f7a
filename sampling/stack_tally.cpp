#include "sampling/stack_tally.h"

namespace jtrace::sampling {
namespace {

using coreinspect::FrameKind;
using coreinspect::Walk;

std::string cause_of(const Walk& walk, const SampleRecord* sample) {
  if (sample && !sample->has_registers) return "the thread was ending";
  if (walk.beyond) {
    if (!sample) return "deeper than what is read of a thread that sleeps";
    return sample->stack_is_full ? "deeper than the copy (--stack-size)" : "a page of the stack was not in memory";
  }
  if (walk.stopped.find("further out of the virtual thread") != std::string::npos)
    return "outermost frames of virtual threads are in the heap, the inner ones are there";
  if (walk.stopped.find("virtual thread") != std::string::npos) return "a virtual thread's frames in the heap";
  if (walk.stopped.find("freed code") != std::string::npos) return "code that was freed in the meantime";
  return !walk.frames.empty() && walk.frames.back().kind == FrameKind::kNative ? "in native code" : "in generated code";
}

}  // namespace

void StackTally::add(const Walk& walk, const SampleRecord* sample) {
  ++all_;
  if (walk.incomplete()) ++cut_[cause_of(walk, sample)];
}

}  // namespace jtrace::sampling
