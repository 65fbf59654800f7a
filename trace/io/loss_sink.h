// LossSink: passes events on and sums up those that the trace lost when it was made (jtrace.dropped), for commands that
// pass a trace on without summing it up. One thread.
#pragma once

#include <cstdint>

#include "base/strings.h"
#include "trace/event_sink.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {

// Of an option; 0 if it is another one. Something was lost even if the number cannot be read.
inline std::uint64_t lost_of(const Option& option) {
  return option.key.view() != kDroppedKey ? 0 : parse_decimal<std::uint64_t>(option.value.view()).value_or(1);
}

class LossSink final : public EventSink {
 public:
  explicit LossSink(EventSink& next) : next_(next) {}  // borrowed, not finished
  Result<> write(const Event& event) override {
    if (const auto* option = std::get_if<Option>(&event)) lost_ += lost_of(*option);
    return next_.write(event);
  }
  std::uint64_t lost() const { return lost_; }

 private:
  EventSink& next_;
  std::uint64_t lost_ = 0;
};

}  // namespace jtrace::trace::io
