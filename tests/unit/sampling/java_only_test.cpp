// The line about what a trace of a profile does not have.
#include "sampling/java_only.h"

#include <gtest/gtest.h>

namespace jtrace::sampling {
namespace {

using coreinspect::Frame;
using coreinspect::FrameKind;

coreinspect::Walk frames_of(std::initializer_list<FrameKind> kinds) {
  static const coreinspect::JavaMethod method;
  coreinspect::Walk walk;
  for (const FrameKind kind : kinds) {
    Frame frame{.kind = kind};
    if (kind == FrameKind::kCompiled) frame.method = &method;
    walk.frames.push_back(std::move(frame));
  }
  return walk;
}

TEST(JavaOnly, CountsStacksWithoutJavaFramesAndThoseThatLoseSome) {
  JavaOnly counts;
  counts.add(frames_of({FrameKind::kCompiled}));
  counts.add(frames_of({FrameKind::kNative, FrameKind::kCompiled}));
  counts.add(frames_of({FrameKind::kStub, FrameKind::kCompiled}));
  counts.add(frames_of({FrameKind::kNative}));
  counts.add(frames_of({}));
  counts.add(frames_of({FrameKind::kNative, FrameKind::kNative}));
  EXPECT_EQ(counts.text(),
            "a trace has Java frames only: of 6 stacks 3 without any are left out, and 2 in native, VM or kernel code "
            "end with the Java caller; the other formats have them");
}

TEST(JavaOnly, SaysNothingOfWhatThereIsNoneOf) {
  JavaOnly shortened, left_out;
  shortened.add(frames_of({FrameKind::kNative, FrameKind::kCompiled}));
  EXPECT_EQ(shortened.text(),
            "a trace has Java frames only: of 1 stack 1 in native, VM or kernel code ends with the Java caller; the "
            "other formats have them");
  left_out.add(frames_of({}));
  EXPECT_EQ(left_out.text(),
            "a trace has Java frames only: of 1 stack 1 without any is left out; the other formats have them");
}

TEST(JavaOnly, SaysNothingIfNothingIsMissing) {
  JavaOnly counts;
  counts.add(frames_of({FrameKind::kCompiled, FrameKind::kEntry, FrameKind::kCompiled, FrameKind::kNative}));
  EXPECT_EQ(counts.text(), "");
}

}  // namespace
}  // namespace jtrace::sampling
