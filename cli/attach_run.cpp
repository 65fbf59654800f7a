#include "cli/attach_run.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <utility>

#include "attach/properties.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/in_parallel.h"
#include "cli/selector.h"
#include "cli/stop_signals.h"

namespace jtrace::cli {
namespace {

using attach::command_of;
using attach::Request;
constexpr double kLongest = 1e8;  // seconds, about three years: more would not fit a clock

bool may_take_long(const Request& request) {
  constexpr std::array<std::string_view, 6> kLong = {"dumpheap",           "GC.heap_dump", "inspectheap",
                                                     "GC.class_histogram", "load",         "JFR.dump"};
  return std::find(kLong.begin(), kLong.end(), command_of(request)) != kLong.end();
}

bool answers_properties(const Request& request) {
  constexpr std::array<std::string_view, 3> kProperties = {"properties", "agentProperties", "VM.system_properties"};
  return std::find(kProperties.begin(), kProperties.end(), command_of(request)) != kProperties.end();
}

std::string label_of(const Outcome& outcome) {
  std::string label = std::to_string(outcome.pid) + " " + outcome.request.operation;
  for (const std::string& argument : outcome.request.arguments) label += " " + argument;
  return label;
}

void mask(Outcome& outcome, const AttachRunOptions& options) {
  if (options.show_secrets || !outcome.reply || outcome.reply->spool || !answers_properties(outcome.request)) return;
  outcome.reply->data = attach::with_masked_secrets(outcome.reply->data);
  outcome.reply->size = outcome.reply->data.size();
}

constexpr std::string_view kStandardOutput = "standard output";

// The reply's data alone, after what waits in `text`; a refusal's words are in the error.
Result<> append_text(std::string& text, const Outcome& outcome, bool labelled) {
  const bool has_data = outcome.reply && (outcome.reply->code == 0 || outcome.reply->cut);
  if (labelled) text += "==> " + label_of(outcome) + " <==\n";
  if (has_data && outcome.reply->spool) {
    JTRACE_RETURN_IF_ERROR(write_whole(STDOUT_FILENO, std::exchange(text, {}), kStandardOutput));
    JTRACE_RETURN_IF_ERROR(outcome.reply->write_to(STDOUT_FILENO, kStandardOutput));
  } else if (has_data) {
    text += outcome.reply->data;
  }
  if (labelled && !text.ends_with('\n')) text += '\n';
  return {};
}

void append_json(JsonWriter& json, const Outcome& outcome) {
  json.begin_object().member("pid", outcome.pid).member("operation", outcome.request.operation);
  json.key("arguments").begin_array();
  for (const std::string& argument : outcome.request.arguments) json.value(argument);
  json.end_array();
  if (outcome.reply)
    json.member("code", outcome.reply->code).member("text", outcome.reply->data).member("size", outcome.reply->size);
  json.member("status", outcome.verdict ? 0 : static_cast<int>(exit_status(outcome.verdict.error())));
  if (!outcome.verdict) json.member("error", outcome.verdict.error().message());
  json.end_object();
}

// Prints outcomes in the order of the JVMs, whatever the order they come in.
class Printer {
 public:
  Printer(const AttachRunOptions& options, bool labelled, bool several)
      : options_(options), labelled_(labelled), several_(several) {
    json_.begin_array();
  }

  void print(Outcome& outcome) {
    mask(outcome, options_);
    statuses_.push_back(outcome.verdict ? ExitStatus::kOk : exit_status(outcome.verdict.error()));
    if (is_json()) {
      if (!outcome.verdict) missing_.push_back(label_of(outcome));
      append_json(json_, outcome);
      return;
    }
    if (auto written = append_text(text_, outcome, labelled_); !written) statuses_.back() = report(written.error());
    if (text_.size() >= kTogether) flush();
    if (outcome.verdict) return;
    flush();
    const Error& error = outcome.verdict.error();
    report(several_ ? error.with_context("process " + std::to_string(outcome.pid)) : error);
  }

  // A batch is many short answers: they are written together, but not kept from whoever waits for them.
  void flush() {
    if (auto written = write_whole(STDOUT_FILENO, std::exchange(text_, {}), kStandardOutput); !written)
      statuses_.push_back(report(written.error()));
  }

  ExitStatus finish() {
    if (!is_json()) {
      flush();
      return combined_status(statuses_);
    }
    json_.end_array();
    const std::string text = json_view("cmd", options_.selectors, missing_, rows_);
    if (auto written = write_whole(STDOUT_FILENO, text, "standard output"); !written) return report(written.error());
    return combined_status(statuses_);
  }

 private:
  static constexpr std::size_t kTogether = 64 * 1024;

  bool is_json() const { return options_.format == "json"; }

  const AttachRunOptions& options_;
  bool labelled_;
  bool several_;
  std::vector<ExitStatus> statuses_;
  std::vector<std::string> missing_;
  std::string text_;  // to be written
  std::string rows_;
  JsonWriter json_{rows_};
};

Result<> check_confirmed(const AttachRunOptions& options, const std::vector<Request>& requests) {
  if (!selects_all(options.selectors) || options.confirmed) return {};
  const auto changing = std::find_if(requests.begin(), requests.end(), [](const Request& r) { return !reads_only(r); });
  if (changing == requests.end()) return {};
  return fail(ErrorCategory::kUsage,
              "'" + std::string(command_of(*changing)) + "' may change a JVM, and 'all' means each one", "say --yes");
}

}  // namespace

ExitStatus combined_status(const std::vector<ExitStatus>& all) {
  const auto failed = std::find_if(all.begin(), all.end(), [](ExitStatus s) { return s != ExitStatus::kOk; });
  if (failed == all.end()) return ExitStatus::kOk;
  const bool some_ok = std::find(all.begin(), all.end(), ExitStatus::kOk) != all.end();
  return some_ok ? ExitStatus::kPartial : *failed;
}

std::string json_view(std::string_view view, std::string_view selectors, const std::vector<std::string>& missing,
                      std::string_view rows) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().member("view", view);
  json.key("target").begin_object().member("selectors", selectors).end_object();
  json.member("complete", missing.empty()).key("missing").begin_array();
  for (const std::string& what : missing) json.value(what);
  json.end_array().key("data");
  out += rows;
  json.end_object();
  return out + '\n';
}

bool reads_only(const Request& request) {
  constexpr std::array<std::string_view, 5> kOperations = {"threaddump", "properties", "agentProperties", "printflag",
                                                           "getversion"};
  constexpr std::array<std::string_view, 26> kCommands = {"help",
                                                          "Thread.print",
                                                          "VM.version",
                                                          "VM.uptime",
                                                          "VM.flags",
                                                          "VM.command_line",
                                                          "VM.info",
                                                          "VM.system_properties",
                                                          "VM.native_memory",
                                                          "VM.metaspace",
                                                          "VM.classloaders",
                                                          "VM.classloader_stats",
                                                          "VM.dynlibs",
                                                          "VM.events",
                                                          "VM.symboltable",
                                                          "VM.stringtable",
                                                          "VM.systemdictionary",
                                                          "VM.print_touched_methods",
                                                          "GC.heap_info",
                                                          "GC.finalizer_info",
                                                          "Compiler.codecache",
                                                          "Compiler.codelist",
                                                          "Compiler.queue",
                                                          "JFR.check",
                                                          "ManagementAgent.status",
                                                          "Thread.vthread_summary"};
  const auto has = [](const auto& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  return request.operation == "jcmd" ? has(kCommands, command_of(request)) || request.arguments.empty()
                                     : has(kOperations, request.operation);
}

attach::AttachOptions attach_options(const AttachRunOptions& options, const std::vector<Request>& requests,
                                     int cancel_fd) {
  attach::AttachOptions attach;
  attach.cancel_fd = cancel_fd;
  if (options.timeout) {
    attach.start_timeout = attach.reply_timeout =
        std::chrono::milliseconds(static_cast<std::int64_t>(std::min(*options.timeout, kLongest) * 1000));
  } else if (std::any_of(requests.begin(), requests.end(), may_take_long)) {
    attach.reply_timeout = std::chrono::minutes(30);
  }
  return attach;
}

namespace {

// The requests of a batch on their way, in order: while the JVM works on one, the next ones that only read stand before
// its listener already (it takes connections in the order in which they come), so that it need not wait for us.
class RequestLine {
 public:
  RequestLine(const attach::AttachSession& session, const std::vector<Request>& requests)
      : session_(session), requests_(requests) {}

  Result<attach::Reply> next_reply(const std::function<void()>& before_long_wait) {
    if (line_.size() < kRefill) {
      while (sent_ < requests_.size() && (sent_ == answered_ || (line_.size() < kInLine && may_go_ahead())))
        line_.push_back(session_.begin(requests_[sent_++]));
      if (before_long_wait && !comes_soon(line_[std::min(kRefill, line_.size()) - 1])) before_long_wait();
    }
    auto exchange = std::move(line_.front());
    line_.pop_front();
    const Request& request = requests_[answered_++];
    if (!exchange) return fail(std::move(exchange).error());
    return session_.finish(std::move(*exchange), request);
  }

 private:
  // Below the listener's backlog (5 in every HotSpot), so that other clients find room.
  static constexpr std::size_t kInLine = 4;
  static constexpr std::size_t kRefill = 2;  // requests left in the line at which more are sent

  // One wait for several replies: to be woken costs more than to read one. Bounded, as a long reply is to be read while
  // it comes.
  static bool comes_soon(const Result<attach::Exchange>& exchange) {
    constexpr timespec kSoon = {.tv_sec = 0, .tv_nsec = 250'000};
    if (!exchange) return true;
    pollfd fd = {.fd = exchange->fd(), .events = POLLIN, .revents = 0};
    return ::ppoll(&fd, 1, &kSoon, nullptr) > 0;
  }

  // What changes a JVM must not run when the answer before it never came.
  bool may_go_ahead() const { return reads_only(requests_[sent_]); }

  const attach::AttachSession& session_;
  const std::vector<Request>& requests_;
  std::size_t sent_ = 0;
  std::size_t answered_ = 0;
  std::deque<Result<attach::Exchange>> line_;
};

}  // namespace

std::vector<Outcome> run_requests(pid_t pid, const std::vector<Request>& requests, const AttachRunOptions& options,
                                  int cancel_fd, const std::function<void(Outcome&)>& when_done,
                                  const std::function<void()>& before_long_wait) {
  std::vector<Outcome> outcomes;
  const auto add = [&](Outcome outcome) {
    outcomes.push_back(std::move(outcome));
    if (!when_done) return;
    when_done(outcomes.back());
    if (requests.size() > 1) outcomes.back().reply.reset();  // printed: a long batch must not pile up
  };
  const auto fail_all = [&](const Error& error) {
    // One cause, one line: the first request stands for all.
    add({.pid = pid, .request = requests.front(), .reply = std::nullopt, .verdict = fail(error)});
    return std::move(outcomes);
  };
  const auto started = attach::Clock::now();
  for (const Request& request : requests)
    if (auto words = attach::check_words(request); !words) return fail_all(words.error());
  const auto process = target::Process::open(pid);
  if (!process) return fail_all(process.error());
  auto session = attach::AttachSession::open(*process, attach_options(options, requests, cancel_fd));
  if (!session) return fail_all(session.error());
  // --timeout is one bound for start and first reply together.
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(attach::Clock::now() - started);
  const auto whole = session->options().reply_timeout;
  session->set_reply_timeout(std::max(whole - spent, std::chrono::milliseconds(1)));
  RequestLine line(*session, requests);
  for (const Request& request : requests) {
    auto reply = line.next_reply(before_long_wait);
    const bool answered = reply.has_value();
    session->set_reply_timeout(whole);
    Outcome outcome{.pid = pid, .request = request, .reply = std::nullopt, .verdict = {}};
    if (reply) {
      outcome.verdict = attach::check_reply(request, *reply);
      outcome.reply = std::move(*reply);
    } else {
      outcome.verdict = fail(reply.error());
    }
    add(std::move(outcome));
    const bool over =
        !answered && !outcomes.back().verdict && exit_status(outcomes.back().verdict.error()) != ExitStatus::kUsage;
    if (over) break;  // timed out, interrupted or gone: the next would be too
  }
  return outcomes;
}

ExitStatus run_and_print(const AttachRunOptions& options, const std::vector<Request>& requests) {
  if (auto confirmed = check_confirmed(options, requests); !confirmed) return report(confirmed.error());
  const auto pids = select_jvms(options.selectors);
  if (!pids) return report(pids.error());
  Printer printer(options, pids->size() > 1 || requests.size() > 1, pids->size() > 1);
  ScopedCancel cancel;
  if (pids->size() == 1) {
    const auto print = [&](Outcome& outcome) { printer.print(outcome); };
    const auto flush = [&] { printer.flush(); };
    if (requests.size() > 1) {
      run_requests(pids->front(), requests, options, cancel.fd(), print, flush);
    } else {
      auto outcomes = run_requests(pids->front(), requests, options, cancel.fd());
      cancel.let_go();  // printing may be interrupted as usual
      print(outcomes.front());
    }
    return printer.finish();
  }
  InParallel<std::vector<Outcome>> workers(
      pids->size(), [&](std::size_t i) { return run_requests((*pids)[i], requests, options, cancel.fd()); });
  for (std::size_t i = 0; i < pids->size(); ++i)
    for (Outcome& outcome : workers.wait(i)) printer.print(outcome);
  return printer.finish();
}

ScopedCancel::ScopedCancel() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  fd_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

ScopedCancel::~ScopedCancel() {
  fd_.reset();
  if (!has_let_go_) outlive_stop_signals(before_);
}

void ScopedCancel::let_go() {
  fd_.reset();
  give_back_stop_signals(before_);
  has_let_go_ = true;
}

}  // namespace jtrace::cli
