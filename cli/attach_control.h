// AttachControl: the keys and signals of `jtrace attach`, as the requests of `jtrace ctl`. Answers go
// to stderr, a line each. Its constructor blocks the signals, so make it before any thread. One thread.
#pragma once

#include <signal.h>

#include <functional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cli/terminal_keys.h"
#include "session/control_source.h"

namespace jtrace::cli {

class AttachControl : public session::ControlSource {
 public:
  // `filter_file`: what --filters named, "" for none. `before_message` is called before anything is written.
  AttachControl(std::string filter_file, std::function<void()> before_message);
  AttachControl(const AttachControl&) = delete;
  AttachControl& operator=(const AttachControl&) = delete;
  ~AttachControl() override;

  // One line that says that there are keys, where there are.
  void announce(std::string_view what);
  // Whether a line is being typed: nothing should be written into it.
  bool is_typing() const { return typing_; }

  void add_to(std::vector<pollfd>& descriptors) const override;
  std::vector<session::PendingRequest> receive() override;
  void answer(int client, const session::ControlAnswer& answer) override;

  // "SIGUSR1 pause, ...": for the help.
  static std::string signals_help();

 private:
  using Requests = std::vector<session::PendingRequest>;

  void take_signals(Requests& requests);
  void take_key(char key, Requests& requests);
  void take_line(Requests& requests);
  void take(session::ControlVerb verb, Requests& requests);
  void ask(session::ControlRequest request, Requests& requests);
  void ask_for_filters(std::string_view rules, Requests& requests);
  void say(std::string_view text);

  TerminalKeys keys_;
  std::string filter_file_;
  std::function<void()> before_message_;
  sigset_t before_{};
  UniqueFd signals_;
  bool typing_ = false;
  std::string line_;
  std::vector<session::ControlVerb> asked_;  // by client
};

}  // namespace jtrace::cli
