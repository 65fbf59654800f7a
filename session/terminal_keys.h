// TerminalKeys: single keys from the terminal of this process, without echo; Ctrl-C and Ctrl-Z stay what they are.
//
// It changes the terminal only while we are in its foreground, and restores its mode in every case: in the
// destructor, in stop() before the process stops itself, and at a crash. One object at a time; one thread.
#pragma once

#include <termios.h>

#include <string>

namespace jtrace::session {

class TerminalKeys {
 public:
  TerminalKeys();
  TerminalKeys(const TerminalKeys&) = delete;
  TerminalKeys& operator=(const TerminalKeys&) = delete;
  ~TerminalKeys();

  // Whether stdin and stderr are a terminal at all.
  bool there() const { return there_; }
  // Whether we are in its foreground: elsewhere a read would stop us.
  bool foreground() const;
  // Its keys one by one, where we are in the foreground; or whole lines, with echo.
  void take_keys() { set(true); }
  void take_lines() { set(false); }
  // What was typed, without waiting. At the terminal's end there() is false from then on.
  std::string read();
  // SIGTSTP: gives the terminal back, stops this process, goes on.
  void stop();

 private:
  void set(bool keys);

  bool there_ = false;
  bool keys_ = true;  // what was asked for last
  termios before_{};
};

}  // namespace jtrace::session
