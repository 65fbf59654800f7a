// PartJoiner: the sink that joins the parts of a trace into one trace (trace_parts.h). Memory grows with the
// definitions that are alive. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>

#include "trace/event_sink.h"

namespace jtrace::trace::io {

class PartJoiner final : public EventSink {
 public:
  explicit PartJoiner(EventSink& next) : next_(next) {}  // borrowed, not finished

  enum class Follows {
    kNothing,  // the first part of a trace
    kThat,     // the part before
    kGap,      // a part that is missing
  };
  // `is_last`: the last part of its trace; `ends_agent`: nothing follows it.
  void begin_part(Follows follows, bool is_last, bool ends_agent);
  Result<> write(const Event& event) override;

  std::uint64_t elements() const { return elements_; }  // passed on

 private:
  bool is_restated(const Event& event);
  bool is_of_head(const Event& event);
  bool is_end_in_the_middle(const Event& event) const;
  bool take_count(const Event& event);
  Result<> write_counts();
  Result<> pass(const Event& event);

  EventSink& next_;
  Follows follows_ = Follows::kNothing;
  bool is_last_ = true, ends_agent_ = true;
  bool in_head_ = true;
  std::string trace_;           // the first part's traceId
  std::set<std::string> head_;  // nodes, processes, agents; options of this trace
  std::unordered_set<std::uint64_t> threads_, classes_, methods_, objects_;
  std::unique_ptr<CaptureSink> counts_;             // methodCounts that may be the last ones of their part
  std::uint64_t last_read_ = 0, last_written_ = 0;  // collationValues
  std::uint64_t elements_ = 0;
};

}  // namespace jtrace::trace::io
