// TraceDocument: a trace, parsed without the code that wrote it, and the rules that hold for every trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace jtrace::test {

struct TraceElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;  // unescaped
  std::vector<TraceElement> children;

  bool has(std::string_view attribute) const;
  std::string get(std::string_view attribute) const;  // "" if it is not there
  std::uint64_t number(std::string_view attribute) const;
};

class TraceDocument {
 public:
  // Fragments are read like the children of a document. Supports only the XML of traces: tags, comments, processing
  // instructions, text. Errors: a truncated or crossed tag.
  static Result<TraceDocument> parse(std::string_view text);
  static Result<TraceDocument> read(const std::string& path);

  const std::vector<TraceElement>& events() const { return events_; }
  std::size_t count(std::string_view name) const;
  std::vector<const TraceElement*> all(std::string_view name) const;
  // The value of the last option with this key; "" if there is none.
  std::string option(std::string_view key) const;
  std::map<std::string, std::size_t> counts() const;

  // Each returns one line per fault, at most 20; empty: no fault.
  // Every reference has its definition before it; nothing is defined twice.
  std::vector<std::string> id_faults() const;
  // collationValue is 1 on traceStart and grows by one with each element that can carry one.
  std::vector<std::string> collation_faults() const;
  // agentCreate...agentDestroy, traceStart...traceEnd, gcStart...gcFinish, waits and contention per thread, one end per
  // thread. What was open at the attach or at the end may lack its other half, once per thread.
  std::vector<std::string> balance_faults() const;
  // Times of events (not of definitions) do not go back.
  std::vector<std::string> time_faults() const;
  // All of these.
  std::vector<std::string> faults() const;

 private:
  std::vector<TraceElement> events_;
};

// The seconds.nanoseconds of a time attribute in nanoseconds.
std::uint64_t nanoseconds_of(std::string_view time);

}  // namespace jtrace::test
