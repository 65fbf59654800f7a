// The line of the frames that most samples had.
#include "sampling/hottest.h"

#include <gtest/gtest.h>

namespace jtrace::sampling {
namespace {

coreinspect::Walk walk_of(std::vector<std::string> innermost_first) {
  coreinspect::Walk walk;
  for (std::string& name : innermost_first) {
    coreinspect::Frame frame{.kind = coreinspect::FrameKind::kNative};
    frame.name = std::move(name);
    walk.frames.push_back(std::move(frame));
  }
  return walk;
}

TEST(Hottest, SharesAreOfAllSamples) {
  Hottest hottest;
  for (int i = 0; i < 70; ++i) hottest.add(walk_of({"rows", "main"}));
  for (int i = 0; i < 9; ++i) hottest.add(walk_of({"hash", "main"}));
  for (int i = 0; i < 21; ++i) hottest.add(walk_of({}));
  EXPECT_EQ(hottest.text(), "hottest: rows 70 %, hash 9 %");
}

TEST(Hottest, ShowsThreeAndNoneThatIsCold) {
  Hottest hottest;
  for (const char* name : {"a", "b", "c", "d"})
    for (int i = 0; i < 50; ++i) hottest.add(walk_of({name}));
  EXPECT_EQ(hottest.text(), "hottest: a 25 %, b 25 %, c 25 %");
  Hottest flat;
  for (int i = 0; i < 200; ++i) flat.add(walk_of({"f" + std::to_string(i)}));
  EXPECT_EQ(flat.text(), "");
  EXPECT_EQ(Hottest().text(), "");
}

TEST(Hottest, NamesTheMethodsOfTheProgramWhereTheJdkIsHot) {
  const coreinspect::JavaMethod lower = {.class_name = "java.lang.Character", .name = "toLowerCase"},
                                fold = {.class_name = "shop.Folding", .name = "fold"};
  Hottest hottest;
  coreinspect::Walk walk;
  for (const auto* method : {&lower, &fold})
    walk.frames.push_back({.kind = coreinspect::FrameKind::kCompiled, .method = method});
  for (int i = 0; i < 60; ++i) hottest.add(walk);
  walk.frames.erase(walk.frames.begin());
  for (int i = 0; i < 40; ++i) hottest.add(walk);
  EXPECT_EQ(
      hottest.text(),
      "hottest: java.lang.Character.toLowerCase 60 %, shop.Folding.fold 40 %; of the program, with what it called "
      "of the JDK: shop.Folding.fold 100 %");
}

TEST(Hottest, PassesOverTheVmsEntryFrames) {
  Hottest hottest;
  coreinspect::Walk walk = walk_of({"entry", "rows"});
  walk.frames[0].kind = coreinspect::FrameKind::kEntry;
  hottest.add(walk);
  EXPECT_EQ(hottest.text(), "hottest: rows 100 %");
}

}  // namespace
}  // namespace jtrace::sampling
