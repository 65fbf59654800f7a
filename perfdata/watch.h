// Watch: an Expression against the snapshots of a JVM, one after the other. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perfdata/expression.h"
#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

class Watch {
 public:
  // kUsage where a name is neither a derived one nor a counter of this JVM: the error names the nearest; and where
  // units do not fit.
  static Result<Watch> of(Expression expression, const Snapshot& snapshot);

  // True if a name needs two snapshots (a share of time, a rate).
  bool needs_two() const;
  // `before` may be null: what needs two snapshots is unknown then.
  bool holds(const Snapshot& now, const Snapshot* before) const;
  // Of a condition that is neither true nor false, because this JVM has no counters of a derived value that it names,
  // or `before` is null and it needs two: kNotAttachable, with what this JVM has instead. Nothing otherwise.
  std::optional<Error> lack(const Snapshot& now, const Snapshot* before) const;
  struct Value {
    std::string name;             // "old.used", "rate(java.threads.started)"
    std::optional<double> value;  // nothing: it is unknown now
    std::string_view unit;        // "": none
  };
  std::vector<Value> values(const Snapshot& now, const Snapshot* before) const;
  // "old.used=123456 bytes, gc.pause_share=0.08 share": the names and what they are now.
  std::string explain(const Snapshot& now, const Snapshot* before) const;

 private:
  explicit Watch(Expression expression) : expression_(std::move(expression)) {}
  Expression expression_;
};

// A condition with or without a name in front: "full heap: old.share > 90%".
struct NamedCondition {
  std::string name;  // "": none
  std::string text;  // of the condition
  std::string_view shown() const { return name.empty() ? text : name; }
};
NamedCondition named_condition(std::string_view text);

// Whether a Watch has held for a time without a break, as far as the looks tell.
class LastingWatch {
 public:
  enum class State : std::uint8_t { kUnknown, kFails, kHolds, kLasted };  // kHolds: but not for the whole time yet

  LastingWatch(Watch watch, std::chrono::nanoseconds span)
      : watch_(std::move(watch)), span_(static_cast<std::uint64_t>(span.count())) {}
  // `before` null: the first look. kUnknown: it takes two.
  State look(const Snapshot& now, const Snapshot* before);
  const Watch& watch() const { return watch_; }

 private:
  Watch watch_;
  std::uint64_t span_;
  std::optional<std::uint64_t> since_;  // CLOCK_MONOTONIC, ns: the first look at which it held
};

}  // namespace jtrace::perfdata
