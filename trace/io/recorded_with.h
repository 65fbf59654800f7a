// RecordedWith: with which options a trace was made, as its producer says them at the start. OptionsSink passes the
// events on. One thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/event_sink.h"

namespace jtrace::trace::io {

// RecordedWith::parameters of a histogram of reachable objects.
inline constexpr const char* kReachable = "reachable";

// Of the first producer of a trace; empty of what says nothing.
struct RecordedWith {
  std::string agent;                                         // "jtrace"
  std::string parameters;                                    // "profile hz=99 cpu"
  std::vector<std::pair<std::string, std::string>> options;  // key and value, defaults too, as in the document
  std::vector<std::string> filters;                          // rules as of --filter: "com.example.* include"
  const std::string* find(std::string_view key) const;       // the value of the option; null: it is not said
};

class OptionsSink final : public EventSink {
 public:
  explicit OptionsSink(EventSink& next) : next_(next) {}  // borrowed, not finished
  Result<> write(const Event& event) override;
  const RecordedWith& recorded_with() const { return found_; }

 private:
  void note(const Event& event);

  EventSink& next_;
  RecordedWith found_;
  bool is_over_ = false;  // what comes later may be of another producer, or filters that were changed
};

}  // namespace jtrace::trace::io
