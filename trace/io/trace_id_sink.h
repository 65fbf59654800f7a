// TraceIdSink: adds the traceIdRef of the last traceStart to every element that may have one and does not: a document
// with one trace leaves it out, fragments must have it. One thread.
#pragma once

#include <string>

#include "trace/event_sink.h"

namespace jtrace::trace::io {

class TraceIdSink final : public EventSink {
 public:
  explicit TraceIdSink(EventSink& next) : next_(next) {}
  Result<> write(const Event& event) override {
    if (const auto* start = std::get_if<TraceStart>(&event)) current_ = start->traceId.view();
    if (current_.empty()) return next_.write(event);
    Event copy = event;
    std::visit(
        [&](auto& element) {
          if constexpr (requires { element.traceIdRef; }) {
            if (!element.traceIdRef.present()) element.traceIdRef = current_;
          }
        },
        copy);
    return next_.write(copy);
  }
  Result<> finish() override { return next_.finish(); }

 private:
  EventSink& next_;
  std::string current_;
};

}  // namespace jtrace::trace::io
