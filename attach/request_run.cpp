#include "attach/request_run.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "attach/commands.h"

namespace jtrace::attach {
namespace {

constexpr double kLongest = 1e8;  // seconds, about three years: more would not fit into a clock

// The requests of a batch that were sent and not answered, in order. While the JVM works on one, the next ones that
// only read are already connected (the JVM accepts connections in order), so it need not wait for jtrace.
class RequestLine {
 public:
  RequestLine(const AttachSession& session, const std::vector<Request>& requests)
      : session_(session), requests_(requests) {}

  Result<Reply> next_reply(const std::function<void()>& before_long_wait) {
    if (line_.size() < kRefill) {
      while (sent_ < requests_.size() && (sent_ == answered_ || (line_.size() < kInLine && may_go_ahead())))
        line_.push_back(session_.begin(requests_[sent_++]));
      if (before_long_wait && !arrives_soon(line_[std::min(kRefill, line_.size()) - 1])) before_long_wait();
    }
    auto exchange = std::move(line_.front());
    line_.pop_front();
    const Request& request = requests_[answered_++];
    if (!exchange) return fail(std::move(exchange).error());
    return session_.finish(std::move(*exchange), request);
  }

 private:
  // Less than the listener's backlog (5 in every HotSpot), so that other clients find room.
  static constexpr std::size_t kInLine = 4;
  static constexpr std::size_t kRefill = 2;  // number of unanswered requests at which more are sent

  // One wait for several replies, since waking takes longer than reading. The wait is bounded, because a long reply
  // must be read as it arrives.
  static bool arrives_soon(const Result<Exchange>& exchange) {
    constexpr timespec kSoon = {.tv_sec = 0, .tv_nsec = 250'000};
    if (!exchange) return true;
    pollfd fd = {.fd = exchange->fd(), .events = POLLIN, .revents = 0};
    return ::ppoll(&fd, 1, &kSoon, nullptr) > 0;
  }

  // A request that changes the JVM must not run if the previous one was not answered.
  bool may_go_ahead() const { return reads_only(requests_[sent_]); }

  const AttachSession& session_;
  const std::vector<Request>& requests_;
  std::size_t sent_ = 0;
  std::size_t answered_ = 0;
  std::deque<Result<Exchange>> line_;
};

}  // namespace

AttachOptions bounds_of(const std::vector<Request>& requests, std::optional<double> timeout, int cancel_fd) {
  AttachOptions bounds;
  bounds.cancel_fd = cancel_fd;
  if (timeout) {
    bounds.start_timeout = bounds.reply_timeout =
        std::chrono::milliseconds(static_cast<std::int64_t>(std::min(*timeout, kLongest) * 1000));
  } else if (std::any_of(requests.begin(), requests.end(), may_take_long)) {
    bounds.reply_timeout = std::chrono::minutes(30);
  }
  return bounds;
}

std::vector<Outcome> run_requests(pid_t pid, const std::vector<Request>& requests, const AttachOptions& bounds,
                                  const std::function<void(Outcome&)>& when_done,
                                  const std::function<void()>& before_long_wait) {
  std::vector<Outcome> outcomes;
  const auto add = [&](Outcome outcome) {
    outcomes.push_back(std::move(outcome));
    if (!when_done) return;
    when_done(outcomes.back());
    if (requests.size() > 1) outcomes.back().reply.reset();  // replies of a long batch must not accumulate
  };
  const auto fail_all = [&](const Error& error) {
    // One cause, one line: the first request represents all.
    add({.pid = pid, .request = requests.front(), .reply = std::nullopt, .verdict = fail(error)});
    return std::move(outcomes);
  };
  const auto started = Clock::now();
  for (const Request& request : requests)
    if (auto words = check_words(request); !words) return fail_all(words.error());
  const auto process = target::Process::open(pid);
  if (!process) return fail_all(process.error());
  auto session = AttachSession::open(*process, bounds);
  if (!session) return fail_all(session.error());
  // One time limit for the start and the first reply together.
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started);
  const auto whole = session->options().reply_timeout;
  session->set_reply_timeout(std::max(whole - spent, std::chrono::milliseconds(1)));
  RequestLine line(*session, requests);
  for (const Request& request : requests) {
    auto reply = line.next_reply(before_long_wait);
    const bool answered = reply.has_value();
    session->set_reply_timeout(whole);
    Outcome outcome{.pid = pid, .request = request, .reply = std::nullopt, .verdict = {}};
    if (reply) {
      outcome.verdict = check_reply(request, *reply);
      outcome.reply = std::move(*reply);
    } else {
      outcome.verdict = fail(reply.error());
    }
    add(std::move(outcome));
    const bool over =
        !answered && !outcomes.back().verdict && exit_status(outcomes.back().verdict.error()) != ExitStatus::kUsage;
    if (over) break;  // timed out, interrupted or ended: the next would fail too
  }
  return outcomes;
}

}  // namespace jtrace::attach
