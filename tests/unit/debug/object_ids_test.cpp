#include "debug/object_ids.h"

#include <gtest/gtest.h>

namespace jtrace::debug {
namespace {

TEST(ObjectIds, AreSmallAndStable) {
  ObjectIds ids;
  EXPECT_EQ(ids.of(0), 0u);
  EXPECT_EQ(ids.of(0x7000), 1u);
  EXPECT_EQ(ids.of(0x8000), 2u);
  EXPECT_EQ(ids.of(0x7000), 1u);
  ASSERT_NE(ids.find(2), nullptr);
  EXPECT_EQ(ids.find(2)->object, 0x8000u);
}

TEST(ObjectIds, WhatWasNeverGivenOutIsNoId) {
  ObjectIds ids;
  (void)ids.of(0x7000);
  EXPECT_EQ(ids.find(0), nullptr);
  EXPECT_EQ(ids.find(2), nullptr);
  EXPECT_EQ(ids.find(0x7000), nullptr);
  EXPECT_EQ(ids.find(~Id{0}), nullptr);
}

TEST(ObjectIds, StringsOfOurOwnAreNoObjects) {
  ObjectIds ids;
  const Id text = ids.of_string("<not available: dead>");
  EXPECT_EQ(ids.of_string("<not available: dead>"), text);
  EXPECT_NE(ids.of_string("other"), text);
  ASSERT_NE(ids.find(text), nullptr);
  EXPECT_EQ(ids.find(text)->object, 0u);
  EXPECT_EQ(*ids.find(text)->text, "<not available: dead>");
}

// Two frames that the compiler has made one share their objects.
TEST(ObjectIds, AnObjectTakenApartBelongsToItsCompiledFrame) {
  ObjectIds ids;
  coreinspect::Frame inner, outer, other;
  inner.unextended_sp = outer.unextended_sp = 0x1000, other.unextended_sp = 0x2000;
  const Id object = ids.of_apart(inner, 7);
  EXPECT_EQ(ids.of_apart(outer, 7), object);
  EXPECT_NE(ids.of_apart(outer, 8), object);
  EXPECT_NE(ids.of_apart(other, 7), object);
  ASSERT_NE(ids.find(object), nullptr);
  EXPECT_EQ(ids.find(object)->object, 0u);
  EXPECT_EQ(ids.find(object)->text, nullptr);
  EXPECT_EQ(ids.find(object)->frame, &inner);
  EXPECT_EQ(ids.find(object)->apart, 7u);
}

// A thread that a collection has moved keeps its id, though it was not found at once.
TEST(ObjectIds, WhatIsFoundAgainHasItsIdAgain) {
  ObjectIds ids;
  const Id thread = ids.of(0x7000), other = ids.of(0x8000);
  ids.lose_objects();
  EXPECT_TRUE(ids.find(thread)->gone);
  ids.find_again(thread, 0);
  EXPECT_TRUE(ids.find(thread)->gone);
  ids.lose_objects();
  ids.find_again(thread, 0x8000);
  EXPECT_FALSE(ids.find(thread)->gone);
  EXPECT_EQ(ids.find(thread)->object, 0x8000u);
  EXPECT_EQ(ids.of(0x8000), thread);
  EXPECT_TRUE(ids.find(other)->gone);
  EXPECT_NE(ids.of(0x7000), other);
}

TEST(ObjectIds, TextsStayWhenObjectsMove) {
  ObjectIds ids;
  const Id text = ids.of_string("a text");
  ids.lose_objects();
  EXPECT_FALSE(ids.find(text)->gone);
  EXPECT_EQ(ids.of_string("a text"), text);
}

}  // namespace
}  // namespace jtrace::debug
