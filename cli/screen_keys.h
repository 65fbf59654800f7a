// ScreenKeys: single keys of the terminal, and the signals that end a command, as one thing to wait for. One thread.
#pragma once

#include <termios.h>

#include "base/unique_fd.h"

namespace jtrace::cli {

class ScreenKeys {
 public:
  // Until it is destroyed the terminal gives each key at once and does not show it. Without a terminal on standard
  // input, and in the background, there are no keys. `stop`: of stop_signals(); borrowed.
  explicit ScreenKeys(int stop);
  ~ScreenKeys();
  ScreenKeys(const ScreenKeys&) = delete;
  ScreenKeys& operator=(const ScreenKeys&) = delete;

  bool has_keys() const { return has_keys_; }
  // Readable after a key or a signal.
  int fd() const { return both_.get(); }
  // After fd() has become readable: whether it was a signal or the key q. Other keys are dropped.
  bool is_quit();

 private:
  int stop_;
  UniqueFd both_;
  termios before_{};
  bool has_keys_ = false;
};

}  // namespace jtrace::cli
