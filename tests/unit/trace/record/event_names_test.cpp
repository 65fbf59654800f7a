// The words of --events, and of the option `events` that a document has of them (events.def).
#include "trace/record/event_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "trace/record/control.h"
#include "trace/record/event_words.h"

namespace jtrace::trace::record {
namespace {

using testing::HasSubstr;

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ',')) words.emplace_back(word);
  return words;
}

// Every bit of Start has a word or an option, and the words that are echoed are accepted again.
TEST(EventNames, ReachEachRowOfTheTable) {
  std::uint64_t reached = kVirtualThreadEvent;  // --virtual-threads
#define EVENT_BIT(number, Name, when, callouts, groups, words)                                  \
  if (k##Name##Event != kVirtualThreadEvent) {                                                  \
    const std::uint64_t bit = k##Name##Event;                                                   \
    EXPECT_EQ(events_of_words(words_in(words_of_events(bit))).value_or(0) & bit, bit) << #Name; \
    EXPECT_THAT(event_groups_help(), HasSubstr(std::string(split(groups, ' ')[0])));            \
    reached |= bit;                                                                             \
  }
#include "trace/record/events.def"
#undef EVENT_BIT
  EXPECT_EQ(words_of_events(reached), words_of_events(~std::uint64_t{0}));
}

// Each word by itself, as a document may have it: its row, and no row that has not this word.
TEST(EventNames, OfADocumentAreReadByTheSameTable) {
#define EVENT_BIT(number, Name, when, callouts, groups, words)                                      \
  for (const std::string_view list : {std::string_view(groups), std::string_view(words)})           \
    for (const std::string_view word : split(list, ' ')) {                                          \
      if (word.empty()) continue;                                                                   \
      EXPECT_NE(events_in(word) & k##Name##Event, 0u) << word;                                      \
      EXPECT_EQ(events_in(word), events_of_words({std::string(word)}).value_or(0)) << word;         \
      EXPECT_EQ(events_in("new," + std::string(word) + ",gc"), events_in(word) | kGcEvent) << word; \
    }
#include "trace/record/events.def"
#undef EVENT_BIT
  EXPECT_EQ(events_in(""), 0u);
  EXPECT_EQ(events_in("all") & kCalloutEvents, 0u) << "what rewrites bytecode must be named";
}

// What help and messages say of callouts has each group with them, and no other.
TEST(EventNames, CalloutGroupsAreThoseOfTheRows) {
  std::string list(kCalloutGroupsOr.view());
  ASSERT_THAT(list, HasSubstr(" or "));
  list.replace(list.find(" or "), 4, ", ").append(", ");
#define EVENT_BIT(number, Name, when, callouts, groups, words)                                          \
  {                                                                                                     \
    const std::string group = std::string(split(groups, ' ')[0]) + ", ";                                \
    const bool is_there = !std::string_view(groups).empty() && list.find(group) != std::string::npos;   \
    EXPECT_EQ(is_there, EventCallouts::k##callouts != EventCallouts::kNone) << #Name << " in " << list; \
  }
#include "trace/record/events.def"
#undef EVENT_BIT
}

// A value of jtrace.unavailable as the agent writes it, of this version and of earlier ones.
TEST(EventNames, OfWhatTheJvmDoesNotGiveAreReadFromTheirList) {
  const std::string now = std::string(kCalloutGroupsAnd.view()) + ": can_retransform_classes: why";
  EXPECT_EQ(events_lacking(now) & kCalloutEvents, kCalloutEvents);
  EXPECT_EQ(events_lacking("methods, lines and allocations: objAlloc: x") & (kAllocationEvent | kObjAllocEvent),
            kAllocationEvent + 0u);
  EXPECT_EQ(events_lacking(std::string(element_of(kObjAllocEvent)) + ": x"), kObjAllocEvent + 0u);
  EXPECT_EQ(events_lacking("Thread.sleep and LockSupport.park: allocations"), 0u);
  EXPECT_EQ(events_lacking("allocations"), 0u) << "without a reason it is another line";
}

}  // namespace
}  // namespace jtrace::trace::record
