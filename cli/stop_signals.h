// The signals that end a running command: SIGINT, SIGTERM, SIGHUP, blocked and readable from a descriptor.
#pragma once

#include <signal.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::cli {

// A signalfd. Call it before threads are started, because they inherit the blocked signals.
Result<UniqueFd> stop_signals();

// After the work: drops signals that came too late to stop it and restores the mask `before`.
void give_back_stop_signals(const sigset_t& before);
// The same if the program ends next: the first later signal of each kind has no effect either, so that the program ends
// with its own status.
void outlive_stop_signals(const sigset_t& before);

// While it lives, SIGINT, SIGTERM and SIGHUP make fd() readable instead of ending the program, so that files
// in the target are removed. A signal that comes after the work is done has no effect.
class ScopedCancel {
 public:
  ScopedCancel();
  ScopedCancel(const ScopedCancel&) = delete;
  ScopedCancel& operator=(const ScopedCancel&) = delete;
  ~ScopedCancel();
  int fd() const { return fd_.get(); }
  // The work is done and much may be printed: later signals have their usual effect.
  void let_go();

 private:
  sigset_t before_{};
  UniqueFd fd_;
  bool has_let_go_ = false;
};

}  // namespace jtrace::cli
