// AttachControl: the keys and signals of `jtrace attach`, as requests with the verbs of `jtrace ctl`. Answers go to
// stderr, a line each. Signals are blocked from its making on, so it is made before any thread. One thread.
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
  std::vector<session::CtlRequest> receive() override;
  void answer(int client, ExitStatus status, std::string_view text) override;

  // "SIGUSR1 pause, ...": for the help.
  static std::string signals_help();

 private:
  static constexpr int kFirstClient = -2;  // descending: sockets are not negative, and -1 is the runner's own

  void take_signals(std::vector<session::CtlRequest>& requests);
  void take_key(char key, std::vector<session::CtlRequest>& requests);
  void take_line(std::vector<session::CtlRequest>& requests);
  void request(std::vector<std::string> words, std::vector<session::CtlRequest>& requests);
  void request_filters(std::string_view rules, std::vector<session::CtlRequest>& requests);
  void say(std::string_view text);

  TerminalKeys keys_;
  std::string filter_file_;
  std::function<void()> before_message_;
  sigset_t before_{};
  UniqueFd signals_;
  bool typing_ = false;
  std::string line_;
  std::vector<std::string> asked_;  // verbs, by kFirstClient - client
};

}  // namespace jtrace::cli
