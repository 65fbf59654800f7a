// Of which wait a thread's sleep is.
#include "sampling/sleepers.h"

#include <gtest/gtest.h>

namespace jtrace::sampling {
namespace {

TEST(KnownSleep, OfOneLookIsThatOfAWaitAroundIt) {
  const KnownSleep one{.from = 120, .until = 100};
  EXPECT_TRUE(one.is_of({.begin = 90, .end = 130}));
  EXPECT_FALSE(one.is_of({.begin = 110, .end = 130})) << "it may have slept elsewhere before";
  EXPECT_FALSE(one.is_of({.begin = 90, .end = 110})) << "it may have been back before its stack was read";
}

TEST(KnownSleep, SeenAgainIsThatOfEachWaitThatHasAPartOfIt) {
  const KnownSleep seen{.from = 120, .until = 500};
  EXPECT_TRUE(seen.is_of({.begin = 90, .end = 130}));
  EXPECT_TRUE(seen.is_of({.begin = 400, .end = 900}));
  EXPECT_FALSE(seen.is_of({.begin = 501, .end = 900}));
  EXPECT_FALSE(seen.is_of({.begin = 400, .end = 900, .preempted = true})) << "it waits for a processor only";
}

}  // namespace
}  // namespace jtrace::sampling
