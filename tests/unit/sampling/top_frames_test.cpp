// The frame of a thread that most of its samples have.
#include "sampling/top_frames.h"

#include <gtest/gtest.h>

namespace jtrace::sampling {
namespace {

TEST(TopFrames, AreThoseOfMostSamples) {
  TopFrames frames;
  for (const char* frame : {"A.run", "B.run", "", "B.run", "", ""}) frames.add(7, frame);
  const TopFrame top = frames.of(7);
  EXPECT_EQ(top.name, "B.run");
  EXPECT_EQ(top.samples, 6u);
  EXPECT_EQ(top.of_frame, 2u);
}

TEST(TopFrames, AreEachThreadsOwn) {
  TopFrames frames;
  frames.add(7, "A.run");
  EXPECT_EQ(frames.of(8).samples, 0u);
  EXPECT_EQ(frames.of(8).name, "");
  frames.clear();
  EXPECT_EQ(frames.of(7).samples, 0u);
}

TEST(TopFrames, HaveNoneOfAThreadThatIsNeverInJava) {
  TopFrames frames;
  frames.add(7, "");
  EXPECT_EQ(frames.of(7).name, "");
  EXPECT_EQ(frames.of(7).samples, 1u);
  EXPECT_EQ(frames.of(7).of_frame, 0u);
}

TEST(TopCarried, IsTheVirtualThreadOfMostSamples) {
  TopCarried carried;
  carried.add(7, 30, "cart-123");
  carried.add(7, 30, "cart-123");
  carried.add(7, 21, "carrier");
  EXPECT_EQ(carried.of(7, 21).id, 30);
  EXPECT_EQ(carried.of(7, 21).name, "cart-123");
  EXPECT_EQ(carried.of(7, 21).threads, 1u);
  carried.add(7, 31, "cart-124");
  EXPECT_EQ(carried.of(7, 21).id, 0) << "none had more than half";
  EXPECT_EQ(carried.of(7, 21).threads, 2u);
  EXPECT_EQ(carried.of(8, 22).threads, 0u);
}

}  // namespace
}  // namespace jtrace::sampling
