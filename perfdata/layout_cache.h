// LayoutCache: one Layout for all regions that hold the same entries at the same places, as those of many JVMs of one
// JDK and one command line do. A thousand JVMs then cost one layout instead of a thousand.
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

  // The layout of `bytes`, parsed only where none of the kept ones describes them. Layouts that are not complete are
  // never shared. Errors: those of Layout::parse.
  Result<std::shared_ptr<const Layout>> get(std::span<const std::byte> bytes, const ParseOptions& options);

 private:
  std::list<std::shared_ptr<const Layout>> layouts_;  // the one used last in front
};

}  // namespace jtrace::perfdata
