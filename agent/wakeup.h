// Wakeup: an eventfd that wakes the control thread, for heap figures or for classes that threads wait for.
//
// Threads: wake() on any, also at a safepoint; the rest on the control thread, after open().
#pragma once

#include "base/unique_fd.h"

namespace jtrace::agent {

class Wakeup {
 public:
  // False if no descriptor is left in this process.
  bool open();
  // Readable after wake(), until clear().
  int descriptor() const { return event_.get(); }
  void wake() const;
  void clear() const;

 private:
  UniqueFd event_;
};

}  // namespace jtrace::agent
