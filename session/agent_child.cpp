#include "session/agent_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "base/clock.h"
#include "session/control_channel.h"
#include "session/ctl_socket.h"
#include "session/document/session_text.h"
#include "session/document/trace_output.h"
#include "session/heap_counters.h"
#include "session/make_drain.h"
#include "session/options/agent_config.h"
#include "session/options/options.h"
#include "session/trace_runner.h"
#include "target/jvm_discovery.h"

namespace jtrace::session {
namespace {

using trace::record::FrameType;

constexpr int kSocket = 3;
constexpr int kHelloLimit = 10'000;  // ms

void close_inherited() {
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < kSocket; ++fd)
    if (fd != null) ::dup2(null, fd);
  if (null > kSocket) ::close(null);
  if (::syscall(SYS_close_range, kSocket + 1, ~0U, 0) == 0) return;
  const long most = ::sysconf(_SC_OPEN_MAX);  // before Linux 5.9
  for (long fd = kSocket + 1; fd < (most > 0 ? most : 65536); ++fd) ::close(static_cast<int>(fd));
}

// The thread of the JVM that started this process may have blocked or ignored signals. They are reset as for a new
// program; signals that end a trace are read from a descriptor.
UniqueFd take_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t ending;
  ::sigemptyset(&ending);
  ::sigaddset(&ending, SIGINT);
  ::sigaddset(&ending, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &ending, nullptr);
  return UniqueFd(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
}

// The full name of the trace file, because this process leaves the JVM's folder.
std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  char folder[PATH_MAX];
  return ::getcwd(folder, sizeof folder) == nullptr ? path : std::string(folder) + "/" + path;
}

// Waits for a frame of this type until the limit; none if the JVM has ended.
Result<Frame> wait_for(ControlChannel& channel, FrameType type, int limit_ms) {
  for (;;) {
    while (auto frame = channel.next())
      if (frame->type == type) return std::move(*frame);
    if (channel.hung_up()) return fail(ErrorCategory::kAgent, "the JVM ended before it was traced");
    pollfd source{channel.fd(), POLLIN, 0};
    if (::poll(&source, 1, limit_ms) == 0) return fail(ErrorCategory::kTimeout, "the agent does not answer");
    JTRACE_RETURN_IF_ERROR(channel.receive());
  }
}

Result<TraceOptions> read_options(const Hello& hello) {
  if (hello.version != trace::record::kControlVersion)
    return fail(ErrorCategory::kAgent, "this agent and jtrace " JTRACE_VERSION " are of different versions");
  OptionReader reader;
  JTRACE_RETURN_IF_ERROR(reader.give_string(hello.options));
  JTRACE_ASSIGN_OR_RETURN(TraceOptions options, reader.finish());
  if (options.output_path(0) == "-")
    return fail(ErrorCategory::kUsage, "output=- and spill=- would write into the program's own output");
  options.agent_parameters = hello.options;
  return options;
}

class AgentChild {
 public:
  AgentChild(ControlChannel channel, UniqueFd signals) : channel_(std::move(channel)), signals_(std::move(signals)) {}

  ExitStatus run() {
    auto summary = trace();
    if (summary) return summary->status();
    // Before Start the agent waits for this process; afterwards it only sees the hang-up.
    (void)channel_.send(trace::record::RefusedFields{.text = summary.error().message()});
    return exit_status(summary.error());
  }

 private:
  Result<TraceSummary> trace() {
    JTRACE_ASSIGN_OR_RETURN(const Frame greeting, wait_for(channel_, FrameType::kHello, kHelloLimit));
    JTRACE_ASSIGN_OR_RETURN(const Hello hello, decode_hello(greeting.payload));
    JTRACE_ASSIGN_OR_RETURN(TraceOptions options, read_options(hello));
    JTRACE_ASSIGN_OR_RETURN(const ucred peer, channel_.peer());
    JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(peer.pid));
    options.output = absolute(options.output_path(process.pid()));
    JTRACE_ASSIGN_OR_RETURN(std::optional<CtlServer> ctl, CtlServer::open_for(process));
    JTRACE_ASSIGN_OR_RETURN(const std::unique_ptr<TraceOutput> output, TraceOutput::open(options.output, options));

    // Main class and arguments from the command line, because the JVM has no counters yet.
    TraceIdentity identity = identify(process, target::examine_jvm(process).value_or(target::Jvm{}), options);
    const ClockAnchor anchor = ClockAnchor::now();
    const std::string folder = options.output.substr(0, options.output.rfind('/') + 1);
    if (options.ring_memory == TraceOptions().ring_memory)
      options.ring_memory = PoolFile::size_with_room(options.ring_memory);
    JTRACE_ASSIGN_OR_RETURN(
        PoolFile pool,
        PoolFile::create(options.ring_memory, session_text(identity, options, anchor, anchor.monotonic, options.output),
                         process.pid(), process.start_ticks(), folder));
    JTRACE_ASSIGN_OR_RETURN(auto reader, trace::record::PoolReader::open(pool.memory()));
    const std::uint64_t start_time = monotonic_ns();
    JTRACE_RETURN_IF_ERROR(channel_.send(FrameType::kStart, encode_start(options, {}), pool.shared_fd()));
    if (::chdir("/") != 0) return fail(system_error("changing from the JVM's folder to /"));

    // Started arrives with VMInit, however long the JVM takes to get there.
    JTRACE_ASSIGN_OR_RETURN(const Frame answer, wait_for(channel_, FrameType::kStarted, -1));
    JTRACE_ASSIGN_OR_RETURN(const Started started, decode_started(answer.payload));
    if (static_cast<trace::record::StartStatus>(started.status) != trace::record::StartStatus::kTraces)
      return fail(ErrorCategory::kAgent, started.text);
    options.events &= started.events;
    const FoundCounters found = find_jvm_counters(process);  // they exist now
    identity.vm_begin_time = found.vm_begin_time;
    // They may be done without: a JVM that has ended meanwhile has a trace all the same, which the runner drains.
    (void)channel_.send(found.counters);
    const auto drain = make_drain(reader, *output, {identity, options, anchor, start_time, options.output});
    std::vector<ControlSource*> controls;
    if (ctl) controls.push_back(&*ctl);
    TraceRunner runner(channel_, pool, reader, *drain, *output, process,
                       {.signal_fd = signals_.get(), .controls = std::move(controls), .progress = {}});
    if (auto begun = drain->begin(start_time); !begun) runner.fail_output(std::move(begun).error());
    return runner.run();
  }

  ControlChannel channel_;
  UniqueFd signals_;
};

}  // namespace

ExitStatus run_agent_child() {
  struct stat info {};
  if (::fstat(kSocket, &info) != 0 || !S_ISSOCK(info.st_mode)) return ExitStatus::kUsage;
  close_inherited();
  const pid_t child = ::fork();
  if (child != 0) ::_exit(child > 0 ? 0 : 1);
  ::setsid();
  ::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  return AgentChild(ControlChannel(UniqueFd(kSocket)), take_signals()).run();
}

}  // namespace jtrace::session
