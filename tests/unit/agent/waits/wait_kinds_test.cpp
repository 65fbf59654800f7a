// The rows of kWaitKinds rewrite their own classes and no others.
#include "agent/waits/wait_kinds.h"

#include <gtest/gtest.h>

#include <bit>

#include "trace/record/event_names.h"
#include "trace/record/event_words.h"

namespace jtrace::agent {
namespace {

TEST(WaitKinds, EachIsAnEventOfItsOwnThatIsAskedForByItsWord) {
  std::uint64_t seen = 0;
  for (const WaitKind& kind : kWaitKinds) {
    SCOPED_TRACE(std::string(kind.name));
    EXPECT_TRUE(std::has_single_bit(kind.event));
    EXPECT_EQ(seen & kind.event, 0u);
    EXPECT_EQ(kind.event & trace::record::kAllEvents, kind.event);
    EXPECT_EQ(kind.event & trace::record::kCalloutEvents, 0u);  // these are MethodTracer's
    seen |= kind.event;
  }
  EXPECT_EQ(seen, kWaitEvents);
}

TEST(WaitKinds, MessagesNameAll) { EXPECT_EQ(kWaitNames.view(), "sleeps and parks"); }

// What the agent says of waits that this JVM does not give (jtrace.unavailable) is read by these words.
TEST(WaitKinds, TheirNamesAreWordsOfEvents) {
  std::string unavailable = ": why";
  unavailable.insert(0, kWaitNames.view());
  EXPECT_EQ(trace::record::events_lacking(unavailable), kWaitEvents);
}

// The helper class makes a call itself, so a call without a row would end in it and be reported by nobody.
TEST(WaitKinds, EachCallThatIsRedirectedIsInAClassOfARow) {
  for (const WaitCall& call : wait_calls()) {
    bool found = false;
    for (const WaitKind& kind : kWaitKinds) found |= call.host == kind.host;
    EXPECT_TRUE(found) << call.host << ": " << call.owner << "." << call.name;
  }
}

}  // namespace
}  // namespace jtrace::agent
