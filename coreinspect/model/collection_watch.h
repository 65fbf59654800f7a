// CollectionWatch: detects whether the JVM collects, or has collected, while one answer is read from it.
//
// CollectedHeap::_is_gc_active (_is_stw_gc_active from 23 on) is set while a collection stops the world,
// _total_collections counts them (collectedHeap.hpp). Both are read at each look, in one system call and past the VM's
// cached memory. That is discarded only when it may be out of date: objects were moved, or a collector moves them while
// the program runs. Borrows the inspection of a live target. Threads: one at a time.
#pragma once

#include <cstdint>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

class CollectionWatch {
 public:
  enum class Sight {
    kNone,   // none since the last look
    kEnded,  // one has begun and ended since then
    kRuns,
  };
  // Discards the cached memory.
  explicit CollectionWatch(const Inspection& inspection);
  Sight look();
  // Whether this JVM tells; if not, look() is always kNone.
  bool can_see() const { return start_ != 0 && !moves_meanwhile_; }
  // Whether the collector moves objects while the program runs: then look() does not detect it.
  bool moves_meanwhile() const { return moves_meanwhile_; }

 private:
  struct State {
    bool is_active = false;
    std::uint32_t count = 0;
  };
  State read() const;

  const Inspection& inspection_;
  Address start_ = 0;  // of what is read; 0: not known, and no collection is ever seen
  std::size_t active_ = 0, count_ = 0, size_ = 0;
  bool moves_meanwhile_;
  std::uint32_t last_ = 0;
};

}  // namespace jtrace::coreinspect
