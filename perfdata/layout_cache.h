// LayoutCache: one Layout for all regions that have the same entries at the same places, as many JVMs of one JDK and
// one command line do. A thousand JVMs then need one layout instead of a thousand.
//
// Ownership: shares the layouts; keeps the kKept that were used last. Threads: one at a time.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <span>

#include "perfdata/layout.h"

namespace jtrace::perfdata {

class LayoutCache {
 public:
  static constexpr std::size_t kKept = 16;

  // The layout of `bytes`, parsed only if no kept layout describes them. Incomplete layouts are never shared. Errors:
  // those of Layout::parse.
  Result<std::shared_ptr<const Layout>> get(std::span<const std::byte> bytes, const ParseOptions& options);

 private:
  std::list<std::shared_ptr<const Layout>> layouts_;  // the last used one first
};

}  // namespace jtrace::perfdata
