// LossSink: passes events on and sums up what the trace lost when it was made, for commands that pass a trace on
// without summing it up. One thread.
#pragma once

#include "trace/event_sink.h"
#include "trace/io/losses.h"

namespace jtrace::trace::io {

class LossSink final : public EventSink {
 public:
  explicit LossSink(EventSink& next) : next_(next) {}  // borrowed, not finished
  Result<> write(const Event& event) override {
    if (const auto* option = std::get_if<Option>(&event)) losses_ += losses_of(*option);
    return next_.write(event);
  }
  const Losses& losses() const { return losses_; }

 private:
  EventSink& next_;
  Losses losses_;
};

}  // namespace jtrace::trace::io
