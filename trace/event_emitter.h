// EventEmitter: gives events their place in the trace (collationValue, traceIdRef) and passes them on. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "trace/event_sink.h"
#include "trace/schema.h"

namespace jtrace::trace {

class EventEmitter {
 public:
  // `sink`: borrowed. `extensions`: jtrace's own attributes may be used (not in strict fragments). `refer`: elements
  // have a traceIdRef even if it is not required (it is not in a document with one traceStart).
  explicit EventEmitter(EventSink& sink, bool extensions = true, bool refer = true)
      : sink_(&sink), extensions_(extensions), refer_(refer) {}

  // The next element that can carry a collationValue gets 1: traceStart.
  void begin_trace(std::string trace_id) {
    trace_id_ = std::move(trace_id);
    collation_ = 0;
  }
  // Continues a trace whose last element had this collationValue.
  void go_on_after(std::uint64_t collation) { collation_ = collation; }
  // Passes all further events to another sink (borrowed).
  void redirect(EventSink& sink) { sink_ = &sink; }

  template <class Element>
  Result<> emit(Element element) {
    if constexpr (requires { element.collationValue; }) {
      if (may_carry(presence_of<Element>("collationValue"))) element.collationValue = collation_ + 1;
    }
    if constexpr (requires { element.traceIdRef; }) {
      constexpr Presence kPresence = presence_of<Element>("traceIdRef");
      if (refer_ ? may_carry(kPresence) : kPresence == Presence::kRequired) element.traceIdRef = trace_id_;
    }
    JTRACE_RETURN_IF_ERROR(sink_->write(element));
    if constexpr (requires { element.collationValue; }) collation_ += may_carry(presence_of<Element>("collationValue"));
    ++counts_[static_cast<std::size_t>(kKindOf<Element>)];
    return {};
  }

  // Elements that the sink took, by kind, over all documents.
  std::uint64_t count(ElementKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts_) sum += count;
    return sum;
  }
  const std::string& trace_id() const { return trace_id_; }

 private:
  // Of an attribute that the element has. By the compiler: no name is compared when an event is emitted.
  template <class Element>
  static consteval Presence presence_of(std::string_view attribute) {
    for (const AttributeInfo& info : Schema<Element>::infos)
      if (info.name == attribute) return info.presence;
    throw "the element has no such attribute";
  }
  bool may_carry(Presence presence) const { return extensions_ || presence != Presence::kExtension; }

  EventSink* sink_;
  bool extensions_;
  bool refer_;
  std::string trace_id_;
  std::uint64_t collation_ = 0;
  std::array<std::uint64_t, kElementCount> counts_{};
};

}  // namespace jtrace::trace
