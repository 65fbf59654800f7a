// TerminalKeys: single keys from the terminal of this process, without echo; Ctrl-C and Ctrl-Z keep their meaning.
//
// It changes the terminal only while this process is in its foreground, and restores its mode in every case: in the
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

  // Whether stdin and stderr are a terminal.
  bool there() const { return there_; }
  // Whether this process is in its foreground: elsewhere a read would stop the process.
  bool foreground() const;
  // Reads keys one by one, while in the foreground; otherwise whole lines, with echo.
  void take_keys() { set(true); }
  void take_lines() { set(false); }
  // The typed characters, without waiting. After the end of the terminal there() is false.
  std::string read();
  // SIGTSTP: restores the terminal, stops this process, and continues later.
  void stop();

 private:
  void set(bool keys);

  bool there_ = false;
  bool keys_ = true;  // the mode that was asked for last
  termios before_{};
};

}  // namespace jtrace::session
