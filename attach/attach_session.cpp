#include "attach/attach_session.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>

#include "attach/commands.h"
#include "attach/diagnosis.h"
#include "attach/preflight.h"
#include "target/jvm_discovery.h"

namespace jtrace::attach {
namespace {

constexpr int kStreamingBit = 0x100;
// The first interval of polling for the socket: a JVM needs about 1 ms. (inotify is not used, because closing its
// descriptor takes longer than polling.)
constexpr std::chrono::microseconds kFirstPause{100};
constexpr std::chrono::microseconds kLongestPause{5'000};
// A JVM that is starting removes the socket of an earlier process with its pid, and may remove its own
// (AttachListener::vm_start). After this time without an answer to the signal, the socket is looked for again.
constexpr std::chrono::milliseconds kSecondLook{200};

std::chrono::milliseconds milliseconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(to - from);
}

Error interrupted() { return Error{.category = ErrorCategory::kRefused, .text = "interrupted"}; }

Error ended(const target::Process& process) {
  return Error{
      .category = ErrorCategory::kNotFound,
      .text = "process " + std::to_string(process.pid()) + " (" + process.comm() + ") exited while it was attached to"};
}

}  // namespace

Waiter AttachSession::waiter(std::chrono::milliseconds time) const {
  return Waiter(process(), Clock::now() + time, options_.cancel_fd);
}

Result<AttachSession> AttachSession::open(const target::Process& process, const AttachOptions& options) {
  JTRACE_RETURN_IF_ERROR(check_user(process));
  JTRACE_RETURN_IF_ERROR(check_state(process, process.recent_status()));
  AttachSession session;
  session.options_ = options;
  JTRACE_ASSIGN_OR_RETURN(Rendezvous rendezvous, Rendezvous::locate(process));
  session.rendezvous_ = std::make_shared<const Rendezvous>(std::move(rendezvous));
  JTRACE_ASSIGN_OR_RETURN(UniqueFd socket, session.rendezvous_->open_socket());
  if (!socket) {
    JTRACE_RETURN_IF_ERROR(session.start_listener(session.waiter(options.start_timeout)));
    JTRACE_ASSIGN_OR_RETURN(socket, session.rendezvous_->open_socket());
  }
  session.socket_ = std::make_shared<const UniqueFd>(std::move(socket));
  return session;
}

Result<> AttachSession::start_listener(const Waiter& waiter) const {
  const auto started = Clock::now();
  JTRACE_RETURN_IF_ERROR(wait_until_signallable(process(), waiter));
  std::optional<Trigger> trigger;
  bool signalled = false;
  Clock::time_point next_look;
  for (auto pause = kFirstPause;; pause = std::min(pause * 5 / 4, kLongestPause)) {
    // Another client was faster and has removed its trigger file. This client makes its own file before it looks for
    // the socket.
    if (!trigger) {
      JTRACE_ASSIGN_OR_RETURN(Trigger made, Trigger::make(*rendezvous_));
      trigger.emplace(std::move(made));
    }
    JTRACE_ASSIGN_OR_RETURN(const UniqueFd socket, rendezvous_->open_socket());
    if (socket) return {};
    bool signal_now = !signalled && trigger->ours();
    if (signalled && Clock::now() >= next_look) {
      signal_now = rendezvous_->socket_was_deleted();
      next_look = Clock::now() + kSecondLook;
    }
    if (signal_now) {
      JTRACE_RETURN_IF_ERROR(process().send_signal(SIGQUIT));
      signalled = true;
      next_look = Clock::now() + kSecondLook;
    }
    const Woken woken = waiter.pause(pause);
    if (woken == Woken::kExited) return fail(ended(process()));
    if (woken == Woken::kCancelled) return fail(interrupted());
    if (woken == Woken::kTimeout) return finish_start(milliseconds_between(started, Clock::now()));
    if (!signalled && !trigger->exists()) trigger.reset();
  }
}

// The time is over, but the socket may have appeared at the last moment.
Result<> AttachSession::finish_start(std::chrono::milliseconds waited) const {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd socket, rendezvous_->open_socket());
  if (socket) return {};
  return fail(timeout_error(*rendezvous_, "the JVM did not make " + rendezvous_->socket_path(), waited, false));
}

Result<UniqueFd> AttachSession::connect(const Waiter& waiter) const {
  const auto started = Clock::now();
  const auto connection_to = [&](const UniqueFd& socket) -> Result<UniqueFd> {
    auto connection = connect_to(socket.get(), *rendezvous_, waiter);
    if (connection || connection.error().errnum != ETIMEDOUT) return connection;
    return fail(timeout_error(*rendezvous_, "the listener did not take the connection",
                              milliseconds_between(started, Clock::now()), false));
  };
  // The file that was checked when it was opened is used for as long as a process listens on it.
  if (*socket_)
    if (auto connection = connection_to(*socket_); connection || connection.error().errnum != ECONNREFUSED)
      return connection;
  for (int attempt = 0;; ++attempt) {
    JTRACE_ASSIGN_OR_RETURN(const UniqueFd socket, rendezvous_->open_socket());
    if (!socket) {
      JTRACE_RETURN_IF_ERROR(start_listener(waiter));
      continue;
    }
    auto connection = connection_to(socket);
    if (connection || connection.error().errnum != ECONNREFUSED || attempt > 0) return connection;
    // No process listens on it: an earlier process with this pid left it, or the JVM lost its listener.
    JTRACE_RETURN_IF_ERROR(rendezvous_->remove_stale(socket.get()));
  }
}

Result<Exchange> AttachSession::begin_until(Request request, const Waiter& waiter) const {
  JTRACE_RETURN_IF_ERROR(check_words(request));
  if (!request.streaming && wants_buffered_reply(request)) request.streaming = false;
  ProtocolSupport support;
  if (request.streaming || !fits_version_1(request)) {
    JTRACE_RETURN_IF_ERROR(ask_support(waiter));
    const int known = support_->load();
    support = {.version = known & 0xff, .streaming_option = (known & kStreamingBit) != 0};
  }
  JTRACE_RETURN_IF_ERROR(check_empty_arguments(request));
  JTRACE_ASSIGN_OR_RETURN(const std::string bytes, encode_request(request, support));
  JTRACE_ASSIGN_OR_RETURN(UniqueFd connection, connect(waiter));
  auto sent = send_request(connection.get(), bytes, waiter);
  // A listener that refuses closes at once, perhaps before everything was sent. Its answer, or the end of the stream,
  // must still be read.
  if (!sent && sent.error().errnum != EPIPE && sent.error().errnum != ECONNRESET) return fail(sent.error());
  return Exchange(std::move(connection), process(), options_.memory_limit);
}

Result<Reply> AttachSession::execute_until(const Request& request, const Waiter& waiter) const {
  JTRACE_ASSIGN_OR_RETURN(Exchange exchange, begin_until(request, waiter));
  return finish_until(std::move(exchange), request, waiter);
}

Result<Reply> AttachSession::finish_until(Exchange exchange, const Request& request, const Waiter& waiter) const {
  const auto started = Clock::now();
  for (;;) {
    JTRACE_ASSIGN_OR_RETURN(const bool done, exchange.advance());
    if (done) return exchange.take();
    const Woken woken = waiter.wait_fd(exchange.fd(), POLLIN);
    if (woken == Woken::kCancelled) return fail(interrupted());
    if (woken == Woken::kTimeout)
      return fail(timeout_error(*rendezvous_,
                                "connected, but no complete answer to '" + request.operation + "' (" +
                                    std::to_string(exchange.received()) + " bytes came)",
                                milliseconds_between(started, Clock::now()), true));
  }
}

Result<> AttachSession::ask_support(const Waiter& waiter) const {
  if (support_->load() != 0) return {};
  JTRACE_ASSIGN_OR_RETURN(const Reply reply, execute_until(version_request(), waiter));
  const ProtocolSupport support = support_of_reply(reply.code, reply.data);
  support_->store(support.version | (support.streaming_option ? kStreamingBit : 0));
  return {};
}

// Only JDK 8 treats an empty argument as the end of the arguments (attachListener_linux.cpp, read_request).
Result<> AttachSession::check_empty_arguments(const Request& request) const {
  bool empty_before = false;
  bool hidden = false;
  for (const std::string& argument : request.arguments) {
    hidden |= empty_before && !argument.empty();
    empty_before |= argument.empty();
  }
  if (!hidden) return {};
  const auto jvm = target::examine_jvm(process());
  if (!jvm || jvm->feature != 8) return {};
  return fail(ErrorCategory::kUsage, "JDK 8 drops arguments after an empty one");
}

Result<Reply> AttachSession::execute(const Request& request) const {
  return execute_until(request, waiter(options_.reply_timeout));
}

Result<Exchange> AttachSession::begin(const Request& request) const {
  return begin_until(request, waiter(options_.reply_timeout));
}

Result<Reply> AttachSession::finish(Exchange exchange, const Request& request) const {
  return finish_until(std::move(exchange), request, waiter(options_.reply_timeout));
}

Result<ProtocolSupport> AttachSession::support() const {
  JTRACE_RETURN_IF_ERROR(ask_support(waiter(options_.reply_timeout)));
  const int known = support_->load();
  return ProtocolSupport{.version = known & 0xff, .streaming_option = (known & kStreamingBit) != 0};
}

Result<> check_reply(const Request& request, const Reply& reply) {
  if (reply.cut) {
    Error error{.category = ErrorCategory::kPartial};
    error.text = "the JVM exited during the command; " + std::to_string(reply.size) + " bytes of the reply kept";
    return fail(std::move(error));
  }
  if (request.operation == "load") {
    const LoadVerdict verdict = judge_load(reply.code, reply.data);
    if (verdict.ok()) return {};
    const std::string name = request.arguments.empty() ? std::string("the agent") : request.arguments.front();
    return fail(load_error(verdict, name));
  }
  if (reply.code == kBadVersionCode)
    return fail(ErrorCategory::kRefused, "the JVM speaks another protocol version (code 101)");
  const std::string command(command_of(request));
  const std::string what = "the JVM refused '" + command + "'";
  if (reply.code != 0) {
    std::string words(reply.data.substr(0, 512));
    while (!words.empty() && words.back() == '\n') words.pop_back();
    Error error{.category = ErrorCategory::kRefused, .text = what + " (code " + std::to_string(reply.code) + ")"};
    if (!words.empty()) error.text += ": " + words;
    if (request.operation.find('.') != std::string::npos)
      error.help = "diagnostic commands go through jcmd: jcmd " + request.operation;
    else if (const auto nearest = nearest_command(request); !nearest.empty())
      error.help = "did you mean " + std::string(nearest) + "?";
    return fail(std::move(error));
  }
  if (command == "JVMTI.agent_load")
    if (const LoadVerdict verdict = judge_load(reply.code, reply.data); !verdict.ok())
      return fail(load_error(verdict, "the agent"));
  if (const auto failure = reported_failure(request, reply.data))
    return fail(ErrorCategory::kRefused, "the JVM reports a failure of '" + command + "': " + *failure);
  return {};
}

}  // namespace jtrace::attach
