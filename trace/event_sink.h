// EventSink: the destination of events (XML, counters, a test's memory...). Also the sinks that need no output of their
// own.
//
// write() borrows everything that the event points to until it returns. After an error every later write() returns the
// same error; finish() is called once, also after an error, and completes what can be completed. One thread at a time.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/event.h"

namespace jtrace::trace {

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual Result<> write(const Event& event) = 0;
  virtual Result<> finish() { return {}; }
};

using ElementSet = std::bitset<kElementCount>;
inline ElementSet element_set(std::initializer_list<ElementKind> kinds) {
  ElementSet set;
  for (ElementKind kind : kinds) set.set(static_cast<std::size_t>(kind));
  return set;
}

// Discards all events.
class NullSink final : public EventSink {
 public:
  Result<> write(const Event&) override { return {}; }
};

// Counts events by element and passes them on (next: borrowed, may be null).
class CountingSink final : public EventSink {
 public:
  explicit CountingSink(EventSink* next = nullptr) : next_(next) {}
  Result<> write(const Event& event) override {
    ++counts_[event.index()];
    return next_ ? next_->write(event) : Result<>{};
  }
  Result<> finish() override { return next_ ? next_->finish() : Result<>{}; }
  std::uint64_t count(ElementKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  std::uint64_t total() const;

 private:
  EventSink* next_;
  std::array<std::uint64_t, kElementCount> counts_{};
};

// Passes events on to all sinks, in order, also if one of them fails. Returns the first error.
class TeeSink final : public EventSink {
 public:
  explicit TeeSink(std::vector<EventSink*> sinks) : sinks_(std::move(sinks)) {}
  Result<> write(const Event& event) override;
  Result<> finish() override;

 private:
  std::vector<EventSink*> sinks_;  // borrowed
};

// Passes on the events for which `accept` returns true.
class FilterSink final : public EventSink {
 public:
  using Predicate = std::function<bool(const Event&)>;
  FilterSink(EventSink& next, Predicate accept) : next_(next), accept_(std::move(accept)) {}
  FilterSink(EventSink& next, ElementSet kinds)
      : FilterSink(next, [kinds](const Event& event) { return kinds.test(event.index()); }) {}
  Result<> write(const Event& event) override { return accept_(event) ? next_.write(event) : Result<>{}; }
  Result<> finish() override { return next_.finish(); }

 private:
  EventSink& next_;
  Predicate accept_;
};

// Keeps copies of the events, and of everything they borrow, as long as it lives.
class CaptureSink final : public EventSink {
 public:
  Result<> write(const Event& event) override;
  Result<> finish() override {
    finished_ = true;
    return {};
  }

  const std::vector<Event>& events() const { return events_; }
  bool finished() const { return finished_; }
  // The events of one element, in order.
  template <class Element>
  std::vector<Element> all() const {
    std::vector<Element> found;
    for (const Event& event : events_)
      if (const Element* element = std::get_if<Element>(&event)) found.push_back(*element);
    return found;
  }

 private:
  template <class Element>
  Element owned(Element element);
  Text owned_text(Text text);

  std::vector<Event> events_;
  // Deques do not move their elements, so that views into them stay valid.
  std::deque<std::string> texts_;
  std::deque<InvocationContext> contexts_;
  std::deque<std::vector<Value>> values_;
  std::deque<std::vector<MethodBodyItem>> items_;
  bool finished_ = false;
};

}  // namespace jtrace::trace
