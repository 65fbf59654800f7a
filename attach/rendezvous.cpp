#include "attach/rendezvous.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "attach/bound_socket.h"
#include "attach/credentials.h"
#include "attach/preflight.h"
#include "attach/unix_table.h"
#include "base/clock.h"
#include "base/strings.h"
#include "target/jvm_discovery.h"

namespace jtrace::attach {
namespace {

bool exists_in(int directory, const std::string& name) {
  struct stat facts {};
  return ::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

std::string fd_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// The last -XX:AltTempDir=DIR; "" if there is none.
std::string alternative_temporary(const std::vector<std::string>& words) {
  constexpr std::string_view kFlag = "-XX:AltTempDir=";
  std::string directory;
  for (const std::string& word : words)
    if (word.starts_with(kFlag)) directory = word.substr(kFlag.size());
  return directory.starts_with('/') ? directory : std::string();
}

// The socket may be in another directory than the command line says, because the environment and option files contain
// options too. The kernel has the name to which it is bound, and the counters have the options.
std::string hidden_temporary(const target::Process& process, std::string_view socket_name) {
  if (const auto bound = bound_socket(process, socket_name))
    return bound->substr(0, std::max<std::size_t>(bound->rfind('/'), 1));
  const auto jvm = target::examine_jvm(process);
  return alternative_temporary(options_of(process, jvm ? &*jvm : nullptr).words);
}

// Looks in the JVM's network namespace, by the name alone. False if the kernel does not show it.
bool nobody_listens(const Rendezvous& rendezvous) {
  const auto table = rendezvous.process().read_proc("net/unix");
  const std::string& path = rendezvous.socket_path();
  return table && !listener_state(parse_unix_table(*table), path.substr(path.rfind('/') + 1)).listening;
}

Error impostor(const Rendezvous& rendezvous, std::string text) {
  Error error{.category = ErrorCategory::kPermission, .text = std::move(text)};
  error.path = rendezvous.process().proc_path("root") + rendezvous.socket_path();
  error.help = nobody_listens(rendezvous)
                   ? "no process listens on it: a killed JVM that had the same pid may have left it; remove it, then "
                     "the JVM makes its own"
                   : "refused: it may be an impostor";
  return error;
}

Result<> check_socket(const Rendezvous& rendezvous, const struct stat& facts) {
  const target::Process& process = rendezvous.process();
  if (facts.st_uid != process.uid())
    return fail(impostor(rendezvous, "the attach socket belongs to uid " + std::to_string(facts.st_uid) +
                                         ", the JVM to uid " + std::to_string(process.uid())));
  if (S_ISSOCK(facts.st_mode) && (facts.st_mode & 077) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", facts.st_mode & 07777);
    return fail(impostor(rendezvous, std::string("the attach socket is open to others (mode ") + mode + ")"));
  }
  if (!S_ISSOCK(facts.st_mode) && !S_ISREG(facts.st_mode))
    return fail(impostor(rendezvous, "the attach socket is neither a socket nor a file"));
  return {};
}

int connect_now(int connection, const sockaddr_un& address) {
  return ::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

// Returns 0 or an errno; EAGAIN if the listener's backlog stayed full.
int connect_within(int connection, const sockaddr_un& address, const Waiter& waiter) {
  if (const int outcome = connect_now(connection, address); outcome != EAGAIN) return outcome;
  // Only connect(2) waits for room in the backlog (unix(7)); poll(2) does not.
  const auto left = std::max(waiter.remaining(), std::chrono::microseconds(1));  // 0 would wait for ever
  const timeval timeout{.tv_sec = left.count() / 1'000'000, .tv_usec = left.count() % 1'000'000};
  ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  ::fcntl(connection, F_SETFL, 0);
  return connect_now(connection, address);
}

}  // namespace

Result<Rendezvous> Rendezvous::locate(const target::Process& process) {
  Rendezvous rendezvous;
  rendezvous.process_ = &process;
  const std::string number = std::to_string(process.nspid());
  rendezvous.socket_name_ = ".java_pid" + number;
  rendezvous.trigger_name_ = ".attach_pid" + number;
  rendezvous.temporary_path_ = alternative_temporary(process.cmdline());
  if (rendezvous.temporary_path_.empty()) rendezvous.temporary_path_ = "/tmp";
  auto directory = process.open_in_root(rendezvous.temporary_path_, O_PATH | O_DIRECTORY);
  if (!directory || !exists_in(directory->get(), rendezvous.socket_name_)) {
    const std::string hidden = hidden_temporary(process, rendezvous.socket_name_);
    if (!hidden.empty() && hidden != rendezvous.temporary_path_) {
      rendezvous.temporary_path_ = hidden;
      directory = process.open_in_root(hidden, O_PATH | O_DIRECTORY);
    }
  }
  if (!directory) {
    Error error = directory.error().with_context("cannot reach the JVM's temporary directory");
    const bool denied = error.errnum == EACCES || error.errnum == EPERM;
    if (error.errnum == ENOENT) {
      error.category = ErrorCategory::kNotAttachable;
      error.help = "HotSpot's socket would be there; jtrace stack, profile, top, inspect and hsperf do not need it";
    }
    if (denied) error.help = "the JVM runs as uid " + std::to_string(process.uid()) + ": run as that user or root";
    return fail(std::move(error));
  }
  rendezvous.temporary_ = std::move(*directory);
  rendezvous.socket_path_ = rendezvous.temporary_path_ + "/" + rendezvous.socket_name_;
  return rendezvous;
}

Result<UniqueFd> Rendezvous::open_socket() const {
  UniqueFd socket(::openat(temporary_.get(), socket_name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!socket && errno == ENOENT) return UniqueFd();
  if (!socket) return fail(system_error("cannot open the attach socket", process_->proc_path("root") + socket_path_));
  struct stat facts {};
  if (::fstat(socket.get(), &facts) != 0) return fail(system_error("cannot look at the attach socket", socket_path_));
  JTRACE_RETURN_IF_ERROR(check_socket(*this, facts));
  return S_ISSOCK(facts.st_mode) ? std::move(socket) : UniqueFd();
}

bool Rendezvous::socket_was_deleted() const {
  if (!bound_socket(*process_, socket_name_)) return false;
  // In the order in which HotSpot makes them: it binds the first and renames it to the second.
  return !exists_in(temporary_.get(), socket_name_ + ".tmp") && !exists_in(temporary_.get(), socket_name_);
}

Result<> Rendezvous::remove_stale(int socket) const {
  struct stat held {};
  struct stat named {};
  if (::fstat(socket, &held) != 0 ||
      ::fstatat(temporary_.get(), socket_name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0)
    return {};
  if (held.st_ino != named.st_ino || held.st_dev != named.st_dev || named.st_uid != process_->uid()) return {};
  JTRACE_ASSIGN_OR_RETURN(const auto as_user, ScopedCredentials::become_or_stay_root(process_->uid(), process_->gid()));
  if (::unlinkat(temporary_.get(), socket_name_.c_str(), 0) == 0 || errno == ENOENT) return {};
  return fail(system_error("no process listens on the attach socket, and it cannot be removed", socket_path_));
}

Result<UniqueFd> connect_to(int socket, const Rendezvous& rendezvous, const Waiter& waiter) {
  const target::Process& process = rendezvous.process();
  UniqueFd connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection) return fail(system_error("cannot make a socket"));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  // Uses the descriptor of the checked file: a file put in its place is not used, and no path is too long.
  std::strcpy(address.sun_path, fd_path(socket).c_str());
  int outcome = 0;
  {
    JTRACE_ASSIGN_OR_RETURN(const auto as_user, ScopedCredentials::become_or_stay_root(process.uid(), process.gid()));
    outcome = connect_within(connection.get(), address, waiter);
  }
  if (outcome == EAGAIN) outcome = ETIMEDOUT;
  if (outcome != 0)
    return fail(system_error(outcome, "cannot connect", process.proc_path("root") + rendezvous.socket_path()));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return fail(system_error("cannot find out who listens", rendezvous.socket_path()));
  // The kernel keeps the listener's pid since listen(2). 0: it has no number in this pid namespace.
  if (peer.pid != process.pid() && peer.pid != 0)
    return fail(impostor(rendezvous, "process " + std::to_string(peer.pid) +
                                         " listens on the attach socket of process " + std::to_string(process.pid())));
  return connection;
}

namespace {

constexpr std::int64_t kOldTriggerNs = 1'000'000'000;  // attaching takes milliseconds

struct TriggerAttempt {
  int errnum = 0;
  bool made = false;        // otherwise another client's file exists
  uid_t foreign_owner = 0;  // if errnum is EEXIST
};

// Makes the file. An existing file of the JVM's user (or of root, whom JDK 11 and later trust) can be used as well:
// another client is attaching, or has left it.
TriggerAttempt make_trigger(int directory, const std::string& name, const target::Process& process) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const UniqueFd file(::openat(directory, name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file) return {.made = true};
    if (errno != EEXIST) return {.errnum = errno};
    struct stat facts {};
    if (::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(facts.st_mode) && facts.st_uid == process.uid()) return {};
    if (::unlinkat(directory, name.c_str(), 0) != 0) return {.errnum = EEXIST, .foreign_owner = facts.st_uid};
  }
  return {.errnum = EEXIST};
}

Error foreign_trigger(const std::string& path, uid_t owner, const target::Process& process) {
  Error error{.category = ErrorCategory::kPermission};
  error.text = "the trigger file belongs to uid " + std::to_string(owner) + ", so the JVM (uid " +
               std::to_string(process.uid()) + ") will not trust it";
  error.path = path;
  error.help = "remove it";
  return error;
}

}  // namespace

Result<Trigger> Trigger::make(const Rendezvous& rendezvous) {
  const target::Process& process = rendezvous.process();
  const std::string& name = rendezvous.trigger_name();
  auto cwd = process.open_cwd();
  // A second descriptor, so that the trigger outlives the rendezvous.
  UniqueFd temporary(::fcntl(rendezvous.temporary_directory(), F_DUPFD_CLOEXEC, 0));
  JTRACE_ASSIGN_OR_RETURN(const auto as_user, ScopedCredentials::become_or_stay_root(process.uid(), process.gid()));
  // The JVM looks into its current directory first: a file there hides a valid one elsewhere.
  const bool in_the_way = cwd && exists_in(cwd->get(), name);
  TriggerAttempt in_temporary{.errnum = EEXIST};
  if (!in_the_way) in_temporary = make_trigger(temporary.get(), name, process);
  if (!in_the_way && in_temporary.errnum == 0) return Trigger(std::move(temporary), process, name, in_temporary.made);
  const TriggerAttempt in_cwd =
      cwd ? make_trigger(cwd->get(), name, process) : TriggerAttempt{.errnum = cwd.error().errnum};
  if (in_cwd.errnum == 0) return Trigger(std::move(*cwd), process, name, in_cwd.made);
  if (in_cwd.errnum == EEXIST)
    return fail(foreign_trigger(process.proc_path("cwd/") + name, in_cwd.foreign_owner, process));
  const std::string path = process.proc_path("root") + rendezvous.temporary_path() + "/" + name;
  if (in_temporary.errnum == EEXIST) return fail(foreign_trigger(path, in_temporary.foreign_owner, process));
  return fail(ErrorCategory::kNotAttachable,
              "cannot create the trigger file: " + process.proc_path("cwd/") + name + ": " +
                  std::strerror(in_cwd.errnum) + "; " + path + ": " + std::strerror(in_temporary.errnum),
              "the JVM must be able to find " + name + " in its current or its temporary directory");
}

bool Trigger::ours() {
  struct stat facts {};
  if (ours_) return true;
  if (::fstatat(directory_.get(), name_.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const std::int64_t made = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
  ours_ = static_cast<std::int64_t>(realtime_ns()) - made > kOldTriggerNs;
  return ours_;
}

bool Trigger::exists() const { return ::faccessat(directory_.get(), name_.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0; }

Trigger::~Trigger() {
  if (!directory_ || !ours_) return;
  const auto as_user = ScopedCredentials::become_or_stay_root(process_->uid(), process_->gid());
  ::unlinkat(directory_.get(), name_.c_str(), 0);
}

}  // namespace jtrace::attach
