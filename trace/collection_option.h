// The value of option jtrace.collection: a collection that is more than one pause, from its first pause to its end, and
// the heap before and after it (docs/trace_format.md). It comes when its end was seen. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/option_keys.h"

namespace jtrace::trace {

struct Collection {
  std::uint64_t from = 0;    // ns since the epoch: begin of its first pause; 0: that was before the trace
  std::uint64_t to = 0;      // when it was over
  std::uint64_t pauses = 0;  // that the trace has of it
  std::optional<std::uint64_t> before, after, total;  // bytes; total: committed
  std::string kind, cause;                            // as those of gcFinish; "": not known
  friend bool operator==(const Collection&, const Collection&) = default;
};

// "from=1100000000.000000001,to=1100000001.000000000,pauses=3,before=9,after=4,total=16,kind=minor,cause=Proactive",
// without what is not known. The cause is the last one, because it may have commas.
std::string collection_text(const Collection& collection);
// Nothing if the text is not such a value; unknown keys are skipped.
std::optional<Collection> read_collection(std::string_view text);

}  // namespace jtrace::trace
