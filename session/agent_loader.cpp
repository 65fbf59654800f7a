#include "session/agent_loader.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>

#include "attach/agent_file.h"
#include "attach/delivery.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/uuid.h"
#include "session/embedded_agent.h"
#include "target/buffer_memory.h"

namespace jtrace::session {
namespace {

using attach::Woken;
using trace::record::FrameType;

// The agent's bytes and a name made from them, by which a copy that an earlier trace mapped in the JVM is found.
struct AgentBytes {
  std::string owned;
  std::span<const std::byte> bytes;
  std::string stem;
};

Result<AgentBytes> agent_bytes(const std::string& path) {
  AgentBytes agent;
  if (path.empty()) {
    agent.bytes = embedded_agent();
  } else {
    JTRACE_ASSIGN_OR_RETURN(agent.owned, read_file(path, 64u << 20));
    agent.bytes = std::as_bytes(std::span(agent.owned));
  }
  const std::string_view text(reinterpret_cast<const char*>(agent.bytes.data()), agent.bytes.size());
  agent.stem = "libjtrace_agent-" + name_based_uuid(text).substr(0, 8);
  return agent;
}

// The path, as the target sees it, of a copy that it has mapped; "" if there is none. The file no longer exists, but
// glibc's dynamic linker knows the library by its name (musl's does not).
std::string mapped_agent(const target::Process& process, const std::string& stem) {
  const auto mappings = process.maps();
  if (!mappings) return {};
  std::string found;
  for (const target::Mapping& mapping : *mappings) {
    if (mapping.file_name().starts_with("ld-musl")) return {};
    if (mapping.executable && mapping.file_name().starts_with(stem + "-")) found = process.path_inside(mapping.path);
  }
  return found;
}

tl::unexpected<Error> interrupted() { return fail(ErrorCategory::kRefused, "interrupted before the trace began"); }

class Loading {
 public:
  Loading(const target::Process& process, const LoaderOptions& options, const attach::AttachSession& session,
          const attach::MeetingSocket& meeting, const attach::Waiter& waiter)
      : process_(process), options_(options), session_(session), meeting_(meeting), waiter_(waiter) {}

  // Makes the JVM load the library and waits for the agent's Hello. JDK 21 and later refuse while the JVM is starting.
  Result<GreetedAgent> load(const std::string& library) {
    constexpr std::chrono::milliseconds kPause(20);
    for (int tries = 100;; --tries) {
      auto loaded = load_once(library);
      if (loaded || !is_too_early(loaded.error()) || tries == 0 || waiter_.remaining() < kPause) return loaded;
      if (waiter_.pause(kPause) == Woken::kCancelled) return interrupted();
    }
  }

 private:
  static bool is_too_early(const Error& error) {
    return error.text.find("only permitted in the live phase") != std::string::npos;  // JvmtiAgent::load
  }

  // The JVM answers `load` only after Agent_OnAttach, which waits for jtrace. So both are watched.
  Result<GreetedAgent> load_once(const std::string& library) {
    const attach::Request request{"load", {library, "true", "connect=" + meeting_.path()}};
    JTRACE_ASSIGN_OR_RETURN(attach::Exchange exchange, session_.begin(request));
    for (;;) {
      pollfd descriptors[] = {{exchange.fd(), POLLIN, 0},
                              {meeting_.fd(), POLLIN, 0},
                              {process_.pidfd(), POLLIN, 0},
                              {options_.cancel_fd, POLLIN, 0}};
      const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(waiter_.remaining()).count();
      if (time <= 0) return timed_out();
      if (::poll(descriptors, 4, static_cast<int>(time) + 1) <= 0) continue;
      if (descriptors[3].revents != 0) return interrupted();
      if (descriptors[1].revents != 0) return greet(std::move(exchange));
      if (descriptors[0].revents != 0) {
        JTRACE_ASSIGN_OR_RETURN(const bool ended, exchange.advance());
        if (ended) return judge(request, exchange);
      }
      if (descriptors[2].revents != 0 && process_.has_exited())
        return fail(ErrorCategory::kNotFound,
                    "JVM " + std::to_string(process_.pid()) + " ended while the agent was being loaded");
    }
  }

  tl::unexpected<Error> timed_out() const {
    const std::string pid = std::to_string(process_.pid());
    return fail(ErrorCategory::kTimeout,
                "JVM " + pid + " did not load the agent within " + std::to_string(options_.timeout.count()) + " ms",
                "jtrace stack " + pid + " needs no cooperation; --timeout waits longer");
  }

  // The reply came before the agent connected: it was not loaded, or could not reach jtrace.
  Result<GreetedAgent> judge(const attach::Request& request, attach::Exchange& exchange) {
    pollfd waiting{meeting_.fd(), POLLIN, 0};
    if (::poll(&waiting, 1, 0) > 0) return greet(std::move(exchange));
    JTRACE_ASSIGN_OR_RETURN(const attach::Reply reply, exchange.take());
    JTRACE_RETURN_IF_ERROR(attach::check_reply(request, reply));
    return fail(ErrorCategory::kAgent,
                "the agent was loaded into JVM " + std::to_string(process_.pid()) + " but did not connect");
  }

  Result<GreetedAgent> greet(attach::Exchange load) {
    JTRACE_ASSIGN_OR_RETURN(UniqueFd connection, meeting_.accept(waiter_));
    GreetedAgent agent{ControlChannel(std::move(connection)), {}, std::move(load)};
    JTRACE_ASSIGN_OR_RETURN(const Frame frame, wait_for_frame(agent.channel, waiter_));
    if (frame.type != FrameType::kHello) return fail(ErrorCategory::kAgent, "the agent did not greet");
    JTRACE_ASSIGN_OR_RETURN(agent.hello, decode_hello(frame.payload));
    if (agent.hello.version == trace::record::kControlVersion) return agent;
    return fail(ErrorCategory::kAgent,
                "an agent of another version answers (protocol " + std::to_string(agent.hello.version) + ", ours is " +
                    std::to_string(trace::record::kControlVersion) + ")",
                "use the jtrace that came with it, or restart the JVM");
  }

  const target::Process& process_;
  const LoaderOptions& options_;
  const attach::AttachSession& session_;
  const attach::MeetingSocket& meeting_;
  const attach::Waiter& waiter_;
};

}  // namespace

Result<Frame> wait_for_frame(ControlChannel& channel, const attach::Waiter& waiter) {
  for (;;) {
    if (auto frame = channel.next()) return std::move(*frame);
    if (channel.hung_up()) return fail(ErrorCategory::kAgent, "the agent hung up");
    switch (waiter.wait_fd_or_exit(channel.fd(), POLLIN)) {
      case Woken::kReady: JTRACE_RETURN_IF_ERROR(channel.receive()); break;
      case Woken::kCancelled: return interrupted();
      case Woken::kExited: return fail(ErrorCategory::kNotFound, "the JVM ended");
      case Woken::kTimeout: {
        const std::string pid = std::to_string(waiter.process().pid());
        return fail(ErrorCategory::kTimeout, "the agent was loaded into JVM " + pid + " and does not answer",
                    "`jtrace stack " + pid + "` shows what the JVM does");
      }
    }
  }
}

void finish_load(attach::Exchange& load, const attach::Waiter& waiter) {
  for (;;) {
    const auto ended = load.advance();
    if (!ended || *ended || waiter.wait_fd_or_exit(load.fd(), POLLIN) != Woken::kReady) return;
  }
}

Result<GreetedAgent> load_agent(const target::Process& process, const LoaderOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(const AgentBytes agent, agent_bytes(options.agent_path));
  const target::BufferMemory file(0, agent.bytes);
  JTRACE_RETURN_IF_ERROR(attach::check_agent_bytes(process, file, "the agent"));
  const attach::Waiter waiter(process, attach::Clock::now() + options.timeout, options.cancel_fd);
  attach::AttachOptions attach_options;
  attach_options.start_timeout = options.timeout;
  attach_options.cancel_fd = options.cancel_fd;
  JTRACE_ASSIGN_OR_RETURN(const attach::AttachSession session, attach::AttachSession::open(process, attach_options));
  JTRACE_ASSIGN_OR_RETURN(attach::MeetingSocket meeting, attach::MeetingSocket::listen(process));
  Loading loading(process, options, session, meeting, waiter);
  if (const std::string mapped = mapped_agent(process, agent.stem); !mapped.empty()) {
    auto again = loading.load(mapped);
    if (again || again.error().category != ErrorCategory::kAgent) return again;
  }
  JTRACE_ASSIGN_OR_RETURN(const attach::DeliveredFile delivered,
                          attach::deliver(process, agent.bytes, agent.stem + ".so"));
  return loading.load(delivered.path());
}

}  // namespace jtrace::session
