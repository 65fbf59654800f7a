// What threads used that are no longer there.
#include "coreinspect/tools/top_threads.h"

#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

constexpr double kSecond = 1e9;

std::vector<TopRow> rows_with(std::initializer_list<double> shares) {
  std::vector<TopRow> rows;
  for (const double share : shares) rows.emplace_back().cpu = share;
  return rows;
}

TEST(TopThreads, TellWhatThreadsUsedThatHaveEnded) {
  EXPECT_NEAR(share_of_ended(0.9 * kSecond, rows_with({0.2, 0.01}), kSecond), 0.69, 1e-9);
  EXPECT_NEAR(share_of_ended(0.9 * kSecond, rows_with({}), 2 * kSecond), 0.45, 1e-9);
}

TEST(TopThreads, DoNotTellNoise) {
  EXPECT_EQ(share_of_ended(0.009 * kSecond, rows_with({}), kSecond), 0);
  EXPECT_EQ(share_of_ended(2.02 * kSecond, rows_with({1.0, 1.0}), kSecond), 0) << "each may be a tick behind";
  EXPECT_GT(share_of_ended(2.05 * kSecond, rows_with({1.0, 1.0}), kSecond), 0);
  EXPECT_EQ(share_of_ended(0.9 * kSecond, rows_with({1.0}), kSecond), 0);
}

}  // namespace
}  // namespace jtrace::coreinspect
