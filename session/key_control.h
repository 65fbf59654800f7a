// KeyControl: keys of the terminal and signals to this process as requests to the trace that it runs, the same as those
// of `jtrace ctl`. Its constructor blocks the signals, so make it before any thread. One thread.
#pragma once

#include <signal.h>

#include <functional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/unique_fd.h"
#include "session/control_source.h"
#include "session/terminal_keys.h"

namespace jtrace::session {

// The output for the user.
struct KeyConsole {
  std::function<void(LogLevel, std::string_view)> show;  // a line
  std::function<void(std::string_view)> prompt;          // without an end of line: the user types after it
  std::function<void()> clear;                           // before the process stops and the shell gets the terminal
};

class KeyControl : public ControlSource {
 public:
  // `filter_file`: the file of --filters, "" for none.
  KeyControl(std::string filter_file, KeyConsole console);
  KeyControl(const KeyControl&) = delete;
  KeyControl& operator=(const KeyControl&) = delete;
  ~KeyControl() override;

  // At the beginning, on a terminal: prints one line that names the keys.
  void announce(std::string_view what);
  // Whether a line is being typed: no other output should be printed into it.
  bool is_typing() const { return typing_; }

  void add_to(std::vector<pollfd>& descriptors) const override;
  std::vector<PendingRequest> receive() override;
  void answer(int client, const ControlAnswer& answer) override;

  // "SIGUSR1 pause, ...": for the help.
  static std::string signals_help();

 private:
  using Requests = std::vector<PendingRequest>;

  void take_signals(Requests& requests);
  void take_key(char key, Requests& requests);
  void take_line(Requests& requests);
  void take(ControlVerb verb, Requests& requests);
  void ask(ControlRequest request, Requests& requests);
  void ask_for_filters(std::string_view rules, Requests& requests);
  void show(std::string_view text) { console_.show(LogLevel::kInfo, text); }

  TerminalKeys keys_;
  std::string filter_file_;
  KeyConsole console_;
  sigset_t before_{};
  UniqueFd signals_;
  bool typing_ = false;
  std::string line_;
  std::vector<ControlVerb> asked_;  // by client
};

}  // namespace jtrace::session
