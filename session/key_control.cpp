#include "session/key_control.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "session/options/filter_rule.h"

namespace jtrace::session {
namespace {

// SIGRTMIN is not a constant: for a signal counted from it, `from_rtmin` is the distance.
struct Action {
  char key;
  int signal;  // 0: from_rtmin
  int from_rtmin;
  ControlVerb verb;
};
constexpr Action kActions[] = {
    {'p', SIGUSR1, 0, ControlVerb::kPause},  {'r', SIGUSR2, 0, ControlVerb::kResume},
    {'x', 0, 1, ControlVerb::kStop},         {'s', 0, 2, ControlVerb::kStart},
    {'f', 0, 3, ControlVerb::kFilters},      {'w', 0, 4, ControlVerb::kFlush},
    {'c', 0, 5, ControlVerb::kCount},        {'i', 0, 6, ControlVerb::kStatus},
    {'q', SIGQUIT, 0, ControlVerb::kDetach},
};

std::string word_of(const Action& action) { return std::string(session::word_of(action.verb)); }

int signal_of(const Action& action) { return action.signal != 0 ? action.signal : SIGRTMIN + action.from_rtmin; }

std::string keys_help() {
  std::string text = "keys: h help";
  for (const Action& each : kActions) text += std::string(", ") + each.key + " " + word_of(each);
  return text;
}

}  // namespace

std::string KeyControl::signals_help() {
  std::string text;
  for (const Action& each : kActions) {
    if (each.signal == SIGQUIT) continue;
    const std::string name = each.signal == SIGUSR1   ? "SIGUSR1"
                             : each.signal == SIGUSR2 ? "SIGUSR2"
                                                      : "RTMIN+" + std::to_string(each.from_rtmin);
    text += (text.empty() ? "" : ", ") + name + " " + word_of(each);
  }
  return text;
}

KeyControl::KeyControl(std::string filter_file, KeyConsole console)
    : filter_file_(std::move(filter_file)), console_(std::move(console)) {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const Action& each : kActions)
    if (each.signal != SIGQUIT || keys_.there()) ::sigaddset(&signals, signal_of(each));
  if (keys_.there()) {
    ::sigaddset(&signals, SIGTSTP);
    ::sigaddset(&signals, SIGCONT);
  }
  sigset_t blocked = signals;
  ::sigaddset(&blocked, SIGTTOU);  // setting the terminal's mode must not stop this process as it leaves the foreground
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  signals_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

KeyControl::~KeyControl() {
  signals_.reset();
  // A signal that comes too late must not end the process now.
  sigset_t pending;
  ::sigpending(&pending);
  for (const Action& each : kActions)
    if (::sigismember(&pending, signal_of(each)) == 1) ::signal(signal_of(each), SIG_IGN);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void KeyControl::announce(std::string_view what) {
  show(std::string(what) + (keys_.foreground() ? ": h lists the keys" : ""));
}

void KeyControl::add_to(std::vector<pollfd>& descriptors) const {
  descriptors.push_back({signals_.get(), POLLIN, 0});
  if (keys_.foreground()) descriptors.push_back({STDIN_FILENO, POLLIN, 0});
}

std::vector<PendingRequest> KeyControl::receive() {
  Requests requests;
  take_signals(requests);
  for (const char key : keys_.read()) take_key(key, requests);
  return requests;
}

void KeyControl::take_signals(Requests& requests) {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) > 0) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGTSTP) {
      console_.clear();
      keys_.stop();
    }
    if (number == SIGCONT && !typing_) keys_.take_keys();
    for (const Action& each : kActions)
      if (signal_of(each) == number) take(each.verb, requests);
  }
}

void KeyControl::take_key(char key, Requests& requests) {
  if (typing_) {
    if (key != '\n') {
      line_ += key;
      return;
    }
    return take_line(requests);
  }
  if (key == 'h') return show(keys_help());
  for (const Action& each : kActions) {
    if (each.key != key) continue;
    if (each.verb != ControlVerb::kFilters) return ask({.verb = each.verb}, requests);
    typing_ = true;
    keys_.take_lines();
    console_.prompt(filter_file_.empty() ? "filters, as RULE; RULE...: "
                                         : "filters, as RULE; RULE...; nothing: those of the file: ");
  }
}

// The verb of a signal. Filters come from the file, since none are typed.
void KeyControl::take(ControlVerb verb, Requests& requests) {
  if (verb == ControlVerb::kFilters) return ask_for_filters("", requests);
  ask({.verb = verb}, requests);
}

void KeyControl::take_line(Requests& requests) {
  typing_ = false;
  keys_.take_keys();
  const std::string rules = std::exchange(line_, {});
  ask_for_filters(rules, requests);
}

// If no rule was typed: the filters of the file as it is now.
void KeyControl::ask_for_filters(std::string_view rules, Requests& requests) {
  std::string lines(word_of(ControlVerb::kFilters));
  bool typed = false;
  for (const std::string_view each : split(rules, ';')) {
    if (each.find_first_not_of(" \t") == std::string_view::npos) continue;
    typed = true;
    lines.append("\n").append(each);
  }
  if (typed) {
    auto request = parse_control_request(lines);
    if (request) exclude_the_rest(request->filters);
    if (request) return ask(std::move(*request), requests);
    return console_.show(LogLevel::kWarning, "filters: " + request.error().message());
  }
  if (filter_file_.empty()) return show("filters: none were given, and there is no file of --filters");
  auto file = read_filter_file(filter_file_);
  if (!file) return show("filters: " + file.error().message());
  ask({.verb = ControlVerb::kFilters, .filters = std::move(*file)}, requests);
}

void KeyControl::ask(ControlRequest request, Requests& requests) {
  asked_.push_back(request.verb);
  requests.push_back({{this, static_cast<int>(asked_.size()) - 1}, std::move(request)});
}

void KeyControl::answer(int client, const ControlAnswer& answer) {
  const ControlVerb verb = asked_.at(static_cast<std::size_t>(client));
  if (verb == ControlVerb::kDetach) return;  // the end of the trace is the answer
  std::string shown = text_of(answer);
  while (!shown.empty() && shown.back() == '\n') shown.pop_back();
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  if (shown.empty()) shown = "done";
  const bool ok = status_of(answer) == ExitStatus::kOk;
  console_.show(ok ? LogLevel::kInfo : LogLevel::kWarning, std::string(word_of(verb)) + ": " + shown);
}

}  // namespace jtrace::session
