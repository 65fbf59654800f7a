// What jtrace allocations says of the allocations of a trace. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "trace/io/statistics.h"

namespace jtrace::trace::io {

struct AllocationsView {
  std::string type;                 // which classes (base/class_names.h); "": all
  std::optional<AllocationsBy> by;  // none: by class, site, method and thread, and of a class by stack
  std::size_t rows = 20;            // of each table
};

// "class", "site", "stack", "thread", "method"; none for any other word.
std::optional<AllocationsBy> allocations_by(std::string_view word);

std::string allocations_text(const Statistics& statistics, const AllocationsView& view);
std::string allocations_json(const Statistics& statistics, std::string_view input, const AllocationsView& view);

}  // namespace jtrace::trace::io
