#include "session/document/trace_drain.h"

#include <algorithm>

#include "base/clock.h"
#include "base/size_text.h"
#include "session/document/first_error.h"
#include "trace/option_keys.h"

namespace jtrace::session {

Result<> TraceDrain::begin(std::uint64_t time) {
  JTRACE_RETURN_IF_ERROR(output_.begin());
  return begin_document(time);
}

Result<> TraceDrain::end_trace(Mode mode) {
  FirstError first;
  for (bool more = true; more;) {
    auto done = pass(mode);
    more = done && done->more;
    if (!done) first.add(fail(std::move(done).error()));
  }
  first.add(settle(Ending::kTrace));
  const bool cut = cut_ || !first.result();
  // What arrives now is written even if the destination is full.
  output_.begin_closing();
  End end{.mode = mode, .cut = cut};
  if (last_counts_) end.notes.emplace_back(*last_counts_);
  if (!uncounted_.empty()) end.notes.emplace_back(OptionNote{std::string(trace::kUncountedKey), uncounted_});
  in_trace_ = false;
  first.add(finish_document(end));
  return first.result();
}

Result<> TraceDrain::begin_next_trace() {
  return begin_further(monotonic_ns(), std::max(options_.rotate, 1u), Further::kNextTrace);
}

bool TraceDrain::watches_size() const {
  return options_.rotate != 0 || (options_.max_size != 0 && counts_methods(options_));
}

Result<> TraceDrain::watch_size(std::uint64_t time, std::uint64_t reserve) {
  if (rotating_ || !in_trace_ || !watches_size()) return {};
  const CountRoom room = count_room();
  if (!output_.is_nearly_full(reserve + room_for_counts(options_, room.methods, room.bytes))) return {};
  if (options_.rotate != 0) return rotate(time);
  if (!counted_out_) {
    counted_out_ = true;
    JTRACE_RETURN_IF_ERROR(settle(Ending::kEvents));
    JTRACE_RETURN_IF_ERROR(write_counts_of_document());
  }
  return fail(ErrorCategory::kPartial, "the output has reached its limit of " + size_text(options_.max_size));
}

Result<> TraceDrain::rotate(std::uint64_t time) {
  rotating_ = true;
  JTRACE_RETURN_IF_ERROR(settle(Ending::kDocument));
  JTRACE_RETURN_IF_ERROR(write_counts_of_document());
  in_trace_ = false;
  JTRACE_RETURN_IF_ERROR(finish_document({.time = time}));
  JTRACE_RETURN_IF_ERROR(begin_further(time, options_.rotate, Further::kSameTrace));
  rotating_ = false;
  return {};
}

// Figures of the document that ends, not of the trace.
Result<> TraceDrain::write_counts_of_document() {
  if (!counts_methods(options_)) return {};
  const CountRoom room = count_room();
  auto counts = last_counts(options_, room.methods, room.bytes, counter_);
  if (!counts) return write(OptionNote{std::string(trace::kUncountedKey), counts.error().message()});
  return write(std::move(*counts));
}

Result<> TraceDrain::begin_further(std::uint64_t time, std::uint32_t keep, Further how) {
  JTRACE_RETURN_IF_ERROR(output_.next_document(keep));
  ++documents_;
  return begin_further_document(time, how);
}

}  // namespace jtrace::session
