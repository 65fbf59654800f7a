#include "tests/testlib/trace_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"

namespace jtrace::test {

namespace fs = std::filesystem;

Result<> wait_for_bytes(const std::string& path, std::string_view bytes, std::chrono::milliseconds timeout,
                        const std::function<bool()>& alive) {
  const UniqueFd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const std::string folder = fs::path(path).parent_path();
  if (::inotify_add_watch(watch.get(), folder.c_str(), IN_CREATE | IN_MODIFY | IN_MOVED_TO) < 0)
    return fail(system_error("watching a folder", folder));
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    if (auto text = read_file(path, std::size_t{4} << 30); text && text->find(bytes) != std::string::npos) return {};
    const bool lives = alive();
    if (!lives || std::chrono::steady_clock::now() > deadline)
      return fail(ErrorCategory::kTimeout,
                  "waiting for '" + std::string(bytes) + "' in " + path + (lives ? "" : ": its writer has ended"));
    // A write wakes the poll; the death of the writer does not, so it also wakes up at intervals.
    pollfd fd{watch.get(), POLLIN, 0};
    ::poll(&fd, 1, 50);
    char events[4096];
    while (::read(watch.get(), events, sizeof events) > 0) {
    }
  }
}

Result<std::unique_ptr<TraceRun>> TraceRun::start(pid_t pid, const std::vector<std::string>& arguments) {
  std::unique_ptr<TraceRun> run(new TraceRun(pid));
  std::vector<std::string> argv{jtrace_binary(), "attach", std::to_string(pid), "-o", run->path_};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  JTRACE_ASSIGN_OR_RETURN(run->command_, BackgroundCommand::start(argv));
  auto tracing =
      wait_for_bytes(run->path_, "<traceStart", std::chrono::seconds(60), [&run] { return run->command_->alive(); });
  if (!tracing) {
    const auto status = run->command_->wait_exit(std::chrono::milliseconds(0));
    std::string command = "jtrace";
    for (std::size_t i = 1; i < argv.size(); ++i) command += ' ' + argv[i];
    return fail(tracing.error().with_context(command + (status ? " (status " + std::to_string(*status) + ")" : "") +
                                             ", which said: " + run->command_->err()));
  }
  return run;
}

TraceRun::~TraceRun() {
  command_.reset();
  remove_left_pools(target_);
}

// A jtrace that still uses a pool has locked it (session/pool_file.cpp).
void remove_left_pools(pid_t target) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev/shm", error)) {
    if (!entry.path().filename().string().starts_with("jtrace-" + std::to_string(target) + "-")) continue;
    const auto pool = open_file(entry.path(), O_RDONLY | O_NOFOLLOW);
    if (pool && ::flock(pool->get(), LOCK_EX | LOCK_NB) == 0) fs::remove(entry.path(), error);
  }
}

Result<> TraceRun::stop(int want) {
  command_->signal(SIGINT);
  JTRACE_ASSIGN_OR_RETURN(const int status, command_->wait_exit());
  if (status == want) return {};
  return fail(ErrorCategory::kRefused, "jtrace attach ended with status " + std::to_string(status) + ", not " +
                                           std::to_string(want) + ": " + command_->err());
}

Result<TraceDocument> TraceRun::finish(int want) {
  JTRACE_RETURN_IF_ERROR(stop(want));
  return document();
}

std::vector<std::string> threads_of(pid_t pid) {
  std::vector<std::string> result;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    auto name = read_file(entry.path().string() + "/comm");
    if (name) result.push_back(entry.path().filename().string() + " " + name->substr(0, name->find('\n')));
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace jtrace::test
