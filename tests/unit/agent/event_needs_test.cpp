// Each JVM TI event that a trace switches on has one callback, and each callback is of an event that is switched on.
#include "agent/event_needs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/callbacks.h"
#include "trace/record/event_words.h"

namespace jtrace::agent {
namespace {

std::vector<int> all_events() {
  Config config;
  config.sample_interval = 0;  // every object: one more event
  return events_of(config, record::kAllEvents);
}

EventCallbacks all_callbacks() {
  EventCallbacks callbacks;
  install_callbacks(callbacks);
  return callbacks;
}

TEST(EventNeeds, EachEventThatIsSwitchedOnHasACallback) {
  const EventCallbacks callbacks = all_callbacks();
  for (const int event : all_events()) EXPECT_TRUE(callbacks.has(event)) << "no callback for JVM TI event " << event;
}

TEST(EventNeeds, EachCallbackIsOfAnEventThatIsSwitchedOn) {
  std::vector<int> events = all_events();
  events.push_back(JVMTI_EVENT_VM_INIT);  // by AgentSession, if the JVM starts with the agent
  const EventCallbacks callbacks = all_callbacks();
  for (int event = kFirstEvent; event < kFirstEvent + static_cast<int>(std::size(callbacks.entries)); ++event)
    if (callbacks.has(event)) {
      EXPECT_THAT(events, testing::Contains(event)) << "nothing switches it on";
    }
}

TEST(EventNeeds, NoEventHasTwoCallbacks) {
  EXPECT_EQ(all_callbacks().set_twice, 0);
  EventCallbacks callbacks = all_callbacks();
  install_gc_callbacks(callbacks);
  EXPECT_EQ(callbacks.set_twice, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
}

// A JVM that has tags and nothing else.
jvmtiError JNICALL tags_only(jvmtiEnv*, jvmtiCapabilities* offered) {
  *offered = {};
  offered->can_tag_objects = 1;
  return JVMTI_ERROR_NONE;
}
jvmtiError JNICALL take_all(jvmtiEnv*, const jvmtiCapabilities*) { return JVMTI_ERROR_NONE; }

TEST(EventNeeds, AMissingOneIsNamedByTheWordsOfItsEvents) {
  jvmtiInterface_1_ functions{};
  functions.GetPotentialCapabilities = tags_only;
  functions.AddCapabilities = take_all;
  jvmtiEnv jvm{&functions};
  const auto named = [&](std::uint64_t events) {
    Config config;
    config.events = events;
    std::uint64_t granted = 0;
    std::vector<NotOffered> missing;
    EXPECT_EQ(take_capabilities(&jvm, config, granted, missing), nullptr);
    EXPECT_EQ(granted & events, 0u);
    return missing.empty() ? std::string() : std::string(missing.front().what);
  };
  EXPECT_EQ(named(record::kMethodCountEvent), record::kCalloutGroupsAnd.view());
  EXPECT_EQ(named(record::kObjAllocEvent), "objAlloc");
}

}  // namespace
}  // namespace jtrace::agent
