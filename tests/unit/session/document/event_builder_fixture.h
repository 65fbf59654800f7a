// An EventBuilder and its output, for tests.
#pragma once

#include <gtest/gtest.h>

#include "session/document/event_builder.h"
#include "trace/record/definition_builder.h"

namespace jtrace::session {

namespace record = trace::record;
using record::RecordKind;

class EventBuilderTest : public testing::Test {
 protected:
  explicit EventBuilderTest(BuilderOptions options = {})
      : emitter_(capture_), builder_(emitter_, ClockAnchor{1000, 5'000'001'000}, options) {
    emitter_.begin_trace("trace-id");
    EXPECT_TRUE(emitter_.emit(trace::TraceStart{.traceId = "trace-id", .agentIdRef = "a", .time = trace::Time(1)}));
  }
  void define(const std::string& bytes) {
    EXPECT_TRUE(builder_.on_definition(std::as_bytes(std::span(bytes)).subspan(4)));
  }
  template <class Record>
  void event(RecordKind kind, std::uint64_t time, Record fields, std::uint16_t flags = 0, std::uint32_t number = 0) {
    fields.header = {kind, record::slots_of<Record>(), flags, number, time};
    EXPECT_TRUE(builder_.on_event(fields.header));
  }
  // Names of the elements after traceStart.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const trace::Event& event : capture_.events())
      found.emplace_back(trace::element_info(trace::element_kind(event)).name);
    return {found.begin() + 1, found.end()};
  }
  using Names = std::vector<std::string>;

  trace::CaptureSink capture_;
  trace::EventEmitter emitter_;
  EventBuilder builder_;
};

// Calls as callouts write them: the thread from a ThreadSwitch, the method from its number.
class Calls : public EventBuilderTest {
 protected:
  explicit Calls(bool receivers = false, bool cpu_time = false)
      : EventBuilderTest({.events = record::kMethodEvent | record::kThrowEvent | record::kCatchEvent,
                          .receivers = receivers,
                          .cpu_time = cpu_time}) {
    for (const std::uint64_t thread : {1u, 2u}) define(record::thread_definition(thread, 10, "caller"));
    define(record::class_definition(5, 11, "LMade;"));
    for (const std::uint64_t method : {7u, 8u, 9u}) define(record::method_definition(method, 11, 5, "work"));
  }
  void run(std::uint32_t producer, std::uint64_t thread) {
    builder_.on_producer(producer);
    event(RecordKind::kThreadSwitch, 20, record::ThreadRecord{.thread = thread});
  }
  void callout(RecordKind kind, std::uint32_t method) { event(kind, ++time_, record::CalloutRecord{}, 0, method); }
  std::uint64_t time_ = 100;
};

}  // namespace jtrace::session
