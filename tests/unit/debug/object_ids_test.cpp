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

}  // namespace
}  // namespace jtrace::debug
