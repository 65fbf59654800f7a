#include "debug/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace jtrace::debug {
namespace {

TEST(Commands, EachHasOneRowInOrder) {
  const auto all = commands();
  const auto key = [](const Command& each) { return each.set << 8 | each.command; };
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LT(key(all[i - 1]), key(all[i])) << all[i].name;
  for (const Command& each : all) {
    EXPECT_NE(each.handler, nullptr);
    EXPECT_EQ(find_command(each.set, each.command), &each);
  }
}

// Those that jdb needs for threads, where, locals, print, dump, classes, methods and fields.
TEST(Commands, HaveAllThatDebuggersNeed) {
  constexpr std::pair<int, int> kNeeded[] = {
      {1, 1},  {1, 2},  {1, 4},   {1, 5},  {1, 6},  {1, 7},  {1, 13}, {1, 17}, {1, 20}, {2, 6},  {2, 7},  {2, 10},
      {2, 12}, {2, 14}, {2, 15},  {3, 1},  {6, 1},  {6, 5},  {9, 1},  {9, 2},  {10, 1}, {11, 1}, {11, 4}, {11, 5},
      {11, 6}, {11, 7}, {11, 15}, {12, 1}, {12, 3}, {13, 1}, {13, 2}, {15, 1}, {15, 2}, {16, 1}, {16, 3}};
  for (const auto& [set, command] : kNeeded)
    EXPECT_NE(find_command(static_cast<std::uint8_t>(set), static_cast<std::uint8_t>(command)), nullptr)
        << set << "." << command;
}

// SetValues, Resume, Stop, Interrupt, RedefineClasses, NewInstance, PopFrames, ForceEarlyReturn.
TEST(Commands, WhatChangesTheTargetIsNotThere) {
  constexpr std::pair<int, int> kChanging[] = {{1, 9},   {1, 18},  {3, 2},   {3, 4},  {4, 1},  {9, 3}, {11, 3},
                                               {11, 10}, {11, 11}, {11, 14}, {13, 3}, {16, 2}, {16, 4}};
  for (const auto& [set, command] : kChanging)
    EXPECT_EQ(find_command(static_cast<std::uint8_t>(set), static_cast<std::uint8_t>(command)), nullptr)
        << set << "." << command;
}

}  // namespace
}  // namespace jtrace::debug
