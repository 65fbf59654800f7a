#include "cli/attach_control.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "session/options/filter_rule.h"

namespace jtrace::cli {
namespace {

// SIGRTMIN is no constant: where a signal is counted from it, `from_rtmin` says how far.
struct Action {
  char key;
  int signal;  // 0: from_rtmin
  int from_rtmin;
  const char* verb;
};
constexpr Action kActions[] = {
    {'p', SIGUSR1, 0, "pause"}, {'r', SIGUSR2, 0, "resume"}, {'x', 0, 1, "stop"},
    {'s', 0, 2, "start"},       {'f', 0, 3, "filters"},      {'w', 0, 4, "flush"},
    {'c', 0, 5, "count"},       {'i', 0, 6, "status"},       {'q', SIGQUIT, 0, "detach"},
};

int signal_of(const Action& action) { return action.signal != 0 ? action.signal : SIGRTMIN + action.from_rtmin; }

std::string keys_help() {
  std::string text = "keys: h help";
  for (const Action& each : kActions) text += std::string(", ") + each.key + " " + each.verb;
  return text;
}

}  // namespace

std::string AttachControl::signals_help() {
  std::string text;
  for (const Action& each : kActions) {
    if (each.signal == SIGQUIT) continue;
    const std::string name = each.signal == SIGUSR1   ? "SIGUSR1"
                             : each.signal == SIGUSR2 ? "SIGUSR2"
                                                      : "RTMIN+" + std::to_string(each.from_rtmin);
    text += (text.empty() ? "" : ", ") + name + " " + each.verb;
  }
  return text;
}

AttachControl::AttachControl(std::string filter_file, std::function<void()> before_message)
    : filter_file_(std::move(filter_file)), before_message_(std::move(before_message)) {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const Action& each : kActions)
    if (each.signal != SIGQUIT || keys_.there()) ::sigaddset(&signals, signal_of(each));
  if (keys_.there()) {
    ::sigaddset(&signals, SIGTSTP);
    ::sigaddset(&signals, SIGCONT);
  }
  sigset_t blocked = signals;
  ::sigaddset(&blocked, SIGTTOU);  // setting the terminal's mode as we leave the foreground must not stop us
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  signals_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

AttachControl::~AttachControl() {
  signals_.reset();
  // What came too late must not end us now.
  sigset_t pending;
  ::sigpending(&pending);
  for (const Action& each : kActions)
    if (::sigismember(&pending, signal_of(each)) == 1) ::signal(signal_of(each), SIG_IGN);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void AttachControl::say(std::string_view text) {
  before_message_();
  log_info(text);
}

void AttachControl::announce(std::string_view what) {
  if (keys_.foreground()) say(std::string(what) + ": h lists the keys");
}

void AttachControl::add_to(std::vector<pollfd>& descriptors) const {
  descriptors.push_back({signals_.get(), POLLIN, 0});
  if (keys_.foreground()) descriptors.push_back({STDIN_FILENO, POLLIN, 0});
}

std::vector<session::CtlRequest> AttachControl::receive() {
  std::vector<session::CtlRequest> requests;
  take_signals(requests);
  for (const char key : keys_.read()) take_key(key, requests);
  return requests;
}

void AttachControl::take_signals(std::vector<session::CtlRequest>& requests) {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) > 0) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGTSTP) {
      before_message_();
      keys_.stop();
    }
    if (number == SIGCONT && !typing_) keys_.take_keys();
    for (const Action& each : kActions) {
      if (signal_of(each) != number) continue;
      if (std::string_view(each.verb) == "filters") request_filters("", requests);
      else request({each.verb}, requests);
    }
  }
}

void AttachControl::take_key(char key, std::vector<session::CtlRequest>& requests) {
  if (typing_) {
    if (key != '\n') {
      line_ += key;
      return;
    }
    return take_line(requests);
  }
  if (key == 'h') return say(keys_help());
  for (const Action& each : kActions) {
    if (each.key != key) continue;
    if (std::string_view(each.verb) != "filters") return request({each.verb}, requests);
    before_message_();
    typing_ = true;
    keys_.take_lines();
    std::fputs("filters, as RULE; RULE...", stderr);
    std::fputs(filter_file_.empty() ? ": " : "; nothing: those of the file: ", stderr);
  }
}

void AttachControl::take_line(std::vector<session::CtlRequest>& requests) {
  typing_ = false;
  keys_.take_keys();
  const std::string rules = std::exchange(line_, {});
  request_filters(rules, requests);
}

// Nothing: the file's as they are now.
void AttachControl::request_filters(std::string_view rules, std::vector<session::CtlRequest>& requests) {
  std::vector<std::string> words{"filters"};
  for (const std::string_view each : split(rules, ';'))
    if (each.find_first_not_of(" \t") != std::string_view::npos) words.emplace_back(each);
  if (words.size() == 1) {
    if (filter_file_.empty()) return say("filters: none were given, and there is no file of --filters");
    const auto file = session::read_filter_file(filter_file_);
    if (!file) return say("filters: " + file.error().message());
    for (const session::FilterRule& rule : *file) words.push_back(session::to_text(rule));
  }
  request(std::move(words), requests);
}

void AttachControl::request(std::vector<std::string> words, std::vector<session::CtlRequest>& requests) {
  asked_.push_back(words[0]);
  requests.push_back({kFirstClient - static_cast<int>(asked_.size() - 1), std::move(words)});
}

void AttachControl::answer(int client, ExitStatus status, std::string_view text) {
  const std::size_t index = static_cast<std::size_t>(kFirstClient - client);
  if (client > kFirstClient || index >= asked_.size()) return;
  if (asked_[index] == "detach") return;  // the end says it
  std::string shown(text);
  while (!shown.empty() && shown.back() == '\n') shown.pop_back();
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  if (shown.empty()) shown = "done";
  before_message_();
  log(status == ExitStatus::kOk ? LogLevel::kInfo : LogLevel::kWarning, asked_[index] + ": " + shown);
}

}  // namespace jtrace::cli
