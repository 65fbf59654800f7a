// MethodCounts: the number of calls of each method, from the agent's answer to Count (trace/record/frames.def)
// or from a spill. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "session/options/options.h"

namespace jtrace::session {

struct MethodCounts {
  struct Count {
    std::uint64_t method;  // methodId
    std::uint64_t calls;   // since the callouts were put in
  };
  std::vector<Count> counts;
  std::string coverage;  // the value of jtrace.counted

  // Adds the counts of one frame (frames.def, Counts). False if the frame is malformed.
  bool add_frame(std::string_view payload);
  // u32 size of the coverage | coverage | counts
  std::string encoded() const;
  bool decode(std::string_view bytes);
};

bool counts_methods(const TraceOptions& options);
// The bytes that a document reserves for the counts at its end, if each takes `size` bytes; 0 if it has none, or if
// they would take more than half of it.
std::uint64_t room_for_counts(const TraceOptions& options, std::uint64_t methods, std::uint64_t size);
// The counts for the end of a document, from `counter`; an error has the reason why there are none.
Result<MethodCounts> last_counts(const TraceOptions& options, std::uint64_t methods, std::uint64_t size,
                                 const std::function<Result<MethodCounts>()>& counter);

}  // namespace jtrace::session
