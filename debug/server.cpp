#include "debug/server.h"

#include <poll.h>

#include <utility>

#include "base/strings.h"
#include "debug/command.h"
#include "debug/session.h"

namespace jtrace::debug {
namespace {

enum class Next { kGoOn, kStop };

std::string end_text(const Session& session, Session::End end) {
  const std::string packets = " after " + counted(session.packets(), "command");
  switch (end) {
    case Session::End::kGoodbye: return "the debugger has left" + packets;
    case Session::End::kGone: return "the connection was closed" + packets;
    case Session::End::kRefused: return "a client was cut off" + packets + ": " + session.why();
    case Session::End::kStopped: break;
  }
  return "the debugger was informed of the end" + packets;
}

// Errors: those of the source.
Result<Next> serve_one(Source& source, UniqueFd socket, const ServerOptions& options) {
  World* world = nullptr;
  std::string over;
  bool told_of_faults = false;
  Result<> begun;
  const auto start = [&]() -> Result<Id> {
    auto made = source.begin();
    if (!made) {
      begun = fail(made.error());
      return fail(made.error());
    }
    world = *made;
    options.say("a debugger is connected");
    const DebugThread* thread = world->threads().first_to_show();
    return thread != nullptr ? world->ids().of(thread->object) : Id{0};
  };
  const auto answers = [&](Client& client, const CommandHeader& header, std::span<const std::byte> body) {
    std::string reply = source.answer(*world, client, header, body);
    if (const auto faults = world->walk_faults(); !faults.empty() && !std::exchange(told_of_faults, true))
      for (const std::string& line : faults) options.say("missing: " + line);
    return reply;
  };
  const auto is_over = [&] {
    if (over.empty()) over = source.is_over();
    return !over.empty();
  };
  Session session(start, answers, std::move(socket), {.stop_fd = options.stop_fd, .is_over = is_over});
  const auto end = session.run();
  source.end();
  JTRACE_RETURN_IF_ERROR(begun);
  if (!over.empty()) options.say(over);
  options.say(end_text(session, end));
  return end == Session::End::kStopped && over.empty() ? Next::kStop : Next::kGoOn;
}

// Nothing: it is to stop.
Result<std::optional<UniqueFd>> next_client(Endpoint& at, const ServerOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(Listener listener, Listener::open(at));
  at = listener.at();
  options.listening(at);
  for (;;) {
    pollfd polled[] = {{listener.fd(), POLLIN, 0}, {options.stop_fd, POLLIN, 0}};
    (void)::poll(polled, options.stop_fd < 0 ? 1 : 2, -1);
    if (polled[1].revents != 0) return std::optional<UniqueFd>();
    std::optional<UniqueFd> client = polled[0].revents != 0 ? listener.accept() : std::nullopt;
    if (!client) continue;
    const std::string why = why_not(client->get());
    if (why.empty()) return client;
    options.say("a client was refused: " + why);
  }
}

}  // namespace

Result<> serve_debuggers(Source& source, const ServerOptions& options) {
  if (options.connect) {
    JTRACE_ASSIGN_OR_RETURN(UniqueFd socket, connect_to(*options.connect));
    JTRACE_RETURN_IF_ERROR(serve_one(source, std::move(socket), options));
    return {};
  }
  for (Endpoint at = options.listen;;) {
    JTRACE_RETURN_IF_ERROR(source.available());
    JTRACE_ASSIGN_OR_RETURN(std::optional<UniqueFd> client, next_client(at, options));
    if (!client) return {};
    const auto next = serve_one(source, std::move(*client), options);
    if (!next && options.once) return fail(next.error());
    if (!next) options.say("the debugger was disconnected: " + next.error().message());
    if (options.once || (next && *next == Next::kStop)) return {};
  }
}

}  // namespace jtrace::debug
