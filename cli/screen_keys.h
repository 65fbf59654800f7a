// ScreenKeys: single keys of the terminal, and the signals that end a command, as one thing to wait for. One thread.
#pragma once

#include <signal.h>
#include <termios.h>

#include "base/unique_fd.h"

namespace jtrace::cli {

class ScreenKeys {
 public:
  // While this process is in the foreground of the terminal on standard input, the terminal gives each key at once and
  // does not show it. In the background there are no keys, and the terminal is left alone; it has its mode back before
  // Ctrl-Z stops the process. `stop`: of stop_signals(); borrowed.
  explicit ScreenKeys(int stop);
  ~ScreenKeys();
  ScreenKeys(const ScreenKeys&) = delete;
  ScreenKeys& operator=(const ScreenKeys&) = delete;

  bool has_keys() const { return has_keys_; }
  // Readable after a key or a signal.
  int fd() const { return both_.get(); }
  // After fd() has become readable: whether it was a signal to end or the key q. Other keys are dropped. Stops the
  // process here after Ctrl-Z.
  bool is_quit();

 private:
  void take_keys();  // in the foreground
  void drop_keys();
  void handle_job_signals();
  void stop_process();

  int stop_;
  UniqueFd both_, job_signals_;
  sigset_t mask_before_{};
  termios before_{};
  bool knows_before_ = false, has_keys_ = false;
};

}  // namespace jtrace::cli
