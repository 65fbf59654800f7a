// Which records of threads that inherited events are told twice.
#include "sampling/event_owners.h"

#include <gtest/gtest.h>

namespace jtrace::sampling {
namespace {

constexpr std::uint64_t kOfParent = 11, kOfChild = 12;
constexpr pid_t kParent = 7, kChild = 8;

EventOwners two_threads() {
  EventOwners owners;
  owners.add(kOfParent, {.process = 7, .thread = kParent});
  owners.add(kOfChild, {.process = 7, .thread = kChild});
  owners.open(kParent);
  owners.open(kChild);
  return owners;
}

TEST(EventOwners, DropInheritedRecordsOfThreadsThatHaveTheirOwn) {
  const EventOwners owners = two_threads();
  EXPECT_TRUE(owners.is_wanted(kOfParent, kParent));
  EXPECT_TRUE(owners.is_wanted(kOfChild, kChild));
  EXPECT_FALSE(owners.is_wanted(kOfParent, kChild));
  EXPECT_TRUE(owners.is_wanted(kOfParent, 9)) << "it has none of its own";
}

// Its end is in the ring of the processor on which it ended, and that may be read first.
TEST(EventOwners, JudgeOlderRecordsOfAThreadThatEndedAlike) {
  EventOwners owners = two_threads();
  owners.ended(kChild);
  EXPECT_FALSE(owners.is_wanted(kOfParent, kChild)) << "of a ring that is read after that";
  owners.drained();
  EXPECT_FALSE(owners.has(kChild));
  EXPECT_TRUE(owners.is_wanted(kOfParent, kChild)) << "another thread with its number";
}

TEST(EventOwners, AreThoseOfAThreadThatWasOpenedSinceItsNumberWasFree) {
  EventOwners owners = two_threads();
  owners.ended(kChild);
  owners.open(kChild);
  owners.drained();
  EXPECT_TRUE(owners.has(kChild));
}

TEST(EventOwners, OfAProcessorAreForAllThreads) {
  EventOwners owners;
  owners.add(kOfParent, {});
  EXPECT_TRUE(owners.is_wanted(kOfParent, kChild));
}

}  // namespace
}  // namespace jtrace::sampling
