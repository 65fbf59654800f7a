#include "session/ctl_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::session {
namespace {

std::string socket_name(pid_t pid, std::uint64_t start_ticks) {
  return "/jtrace-" + std::to_string(pid) + "-" + std::to_string(start_ticks) + ".ctl";
}

// True for a folder of `uid` that no other user may write.
Result<> check_folder(const std::string& path, uid_t uid) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return fail(system_error("looking at the runtime folder", path));
  if (S_ISDIR(info.st_mode) && info.st_uid == uid && (info.st_mode & 022) == 0) return {};
  Error error{ErrorCategory::kPermission, "the runtime folder is not private to this user"};
  error.path = path;
  return fail(std::move(error).with_help("remove it, or set XDG_RUNTIME_DIR"));
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(system_error(ENAMETOOLONG, "the control socket's name", path));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<UniqueFd> connect_to(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const sockaddr_un address, address_of(path));
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = 30, .tv_usec = 0};  // a detach takes some seconds
  if (fd) ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(system_error("connecting to a jtrace that traces", path));
  return fd;
}

// "/jtrace-4711-123.ctl.lock": whether a process 4711 with these start ticks runs. Files of other names count as such.
bool may_be_of_running(std::string_view name) {
  constexpr std::string_view kStart = "jtrace-", kEnd = ".ctl.lock";
  if (!name.starts_with(kStart) || !name.ends_with(kEnd)) return true;
  name = name.substr(kStart.size(), name.size() - kStart.size() - kEnd.size());
  const std::size_t dash = name.find('-');
  const auto pid = parse_decimal<pid_t>(name.substr(0, dash));
  const auto ticks = dash == name.npos ? std::nullopt : parse_decimal<std::uint64_t>(name.substr(dash + 1));
  if (!pid || !ticks) return true;
  const auto process = target::Process::open(*pid);
  return process && process->start_ticks() == *ticks;
}

// Whether the file still has this name: its owner may have removed it, and another may have made a new one.
bool has_name(int fd, const std::string& path) {
  struct stat ours {};
  struct stat named {};
  return ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &named) == 0 && ours.st_ino == named.st_ino &&
         ours.st_dev == named.st_dev;
}

// Of a jtrace that was killed, for a JVM that has ended: nobody else asks for this lock. Who traces a JVM that is not
// visible from here holds it.
void remove_left(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (may_be_of_running(entry->path().filename().native())) continue;
    const std::string path = entry->path().native();
    const auto lock = open_file(path, O_RDWR | O_NOFOLLOW, 0);
    if (!lock || ::flock(lock->get(), LOCK_EX | LOCK_NB) != 0 || !has_name(lock->get(), path)) continue;
    ::unlink(path.substr(0, path.size() - std::string_view(".lock").size()).c_str());
    ::unlink(path.c_str());
  }
}

// Folders in which a jtrace of `uid` may listen.
std::vector<std::string> folders_of(uid_t uid) {
  std::vector<std::string> folders;
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && uid == ::geteuid())
    folders.emplace_back(runtime);
  const std::string number = std::to_string(uid);
  for (const char* folder : {"/run/user/", "/run/jtrace-", "/tmp/jtrace-"}) folders.push_back(folder + number);
  return folders;
}

}  // namespace

Result<std::string> runtime_folder() {
  const uid_t uid = ::geteuid();
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR");
      runtime != nullptr && *runtime == '/' && check_folder(runtime, uid))
    return std::string(runtime);
  const std::string number = std::to_string(uid);
  Result<> made;
  for (const char* start : {"/run/jtrace-", "/tmp/jtrace-"}) {
    if (uid != 0 && std::string_view(start).starts_with("/run")) continue;
    const std::string path = start + number;
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      made = fail(system_error("making the runtime folder", path));
    else made = check_folder(path, uid);
    if (made) return path;
  }
  return fail(std::move(made).error());
}

Result<std::optional<CtlServer>> CtlServer::open_for(const target::Process& process) {
  const auto answer = ask_ctl(process.pid(), process.start_ticks(), process.uid(), ControlRequest{});
  if (answer)
    return fail(ErrorCategory::kRefused, "JVM " + std::to_string(process.pid()) + " is being traced already",
                "`jtrace ctl " + std::to_string(process.pid()) + " status` says by whom");
  auto server = open(process.pid(), process.start_ticks());
  if (server) return std::optional<CtlServer>(std::move(*server));
  if (server.error().category == ErrorCategory::kRefused) return fail(std::move(server).error());
  return std::optional<CtlServer>();
}

Result<CtlServer> CtlServer::open(pid_t pid, std::uint64_t start_ticks) {
  JTRACE_ASSIGN_OR_RETURN(const std::string folder, runtime_folder());
  CtlServer server;
  server.lock_path_ = folder + socket_name(pid, start_ticks) + ".lock";
  if (auto locked = server.lock(); !locked)
    return fail(locked.error()
                    .with_context("JVM " + std::to_string(pid))
                    .with_help("`jtrace ctl " + std::to_string(pid) + " status` asks it"));
  server.path_ = folder + socket_name(pid, start_ticks);
  JTRACE_RETURN_IF_ERROR(server.listen());
  remove_left(folder);
  return server;
}

// The lock ends with this process, however it ends. The owner removes its file, so the file that was locked may have
// lost its name in the meantime.
Result<> CtlServer::lock() {
  for (int attempt = 0; attempt < 10; ++attempt) {
    JTRACE_ASSIGN_OR_RETURN(lock_, open_file(lock_path_, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      const auto owner = read_whole(lock_.get(), lock_path_);
      lock_.reset();
      // One that has just got it, or that only removes it.
      if (owner && owner->empty() && attempt < 9) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        continue;
      }
      return fail(ErrorCategory::kRefused,
                  "it is being traced already" + (owner && !owner->empty() ? ", by jtrace " + *owner : std::string()));
    }
    if (!has_name(lock_.get(), lock_path_)) continue;
    const std::string owner = std::to_string(::getpid());
    if (::ftruncate(lock_.get(), 0) != 0) return fail(system_error("writing", lock_path_));
    return write_whole(lock_.get(), owner, lock_path_);
  }
  return fail(ErrorCategory::kRefused, "the lock of the trace changes all the time");
}

Result<> CtlServer::listen() {
  ::unlink(path_.c_str());  // left by a process that ended: this process holds the lock
  JTRACE_ASSIGN_OR_RETURN(const sockaddr_un address, address_of(path_));
  listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_) return fail(system_error("making a socket"));
  // The file of a socket gets the mode of its descriptor, less the umask.
  ::fchmod(listener_.get(), 0600);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path_.c_str(), 0600) != 0 || ::listen(listener_.get(), 8) != 0)
    return fail(system_error("listening for jtrace ctl", path_));
  return {};
}

CtlServer::CtlServer(CtlServer&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_path_(std::exchange(other.lock_path_, {})),
      lock_(std::move(other.lock_)),
      listener_(std::move(other.listener_)),
      clients_(std::move(other.clients_)) {}

CtlServer::~CtlServer() {
  if (listener_) ::unlink(path_.c_str());
  if (lock_) ::unlink(lock_path_.c_str());
}

void CtlServer::add_to(std::vector<pollfd>& descriptors) const {
  descriptors.push_back({listener_.get(), POLLIN, 0});
  for (const Client& client : clients_)
    if (!client.complete) descriptors.push_back({client.fd.get(), POLLIN, 0});
}

void CtlServer::accept_clients() {
  while (clients_.size() < kMaxClients) {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool known = ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    if (!known || (peer.uid != ::geteuid() && peer.uid != 0)) continue;
    clients_.push_back({std::move(fd), {}, false});
  }
}

std::vector<PendingRequest> CtlServer::receive() {
  accept_clients();
  std::vector<PendingRequest> requests;
  std::vector<std::pair<int, ControlAnswer>> refused;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    Client& client = clients_[i];
    if (client.complete) continue;
    char bytes[4096];
    ssize_t count;
    while ((count = ::recv(client.fd.get(), bytes, sizeof bytes, 0)) > 0 && client.request.size() < kMaxRequest)
      client.request.append(bytes, static_cast<std::size_t>(count));
    const bool waits = count < 0 && (errno == EAGAIN || errno == EINTR);
    if (waits) continue;
    client.complete = true;
    auto request = parse_control_request(client.request);
    if (request) requests.push_back({{this, client.fd.get()}, std::move(*request)});
    else refused.emplace_back(client.fd.get(), refusal_of(request.error()));
  }
  for (const auto& [fd, why] : refused) answer(fd, why);
  return requests;
}

void CtlServer::answer(int fd, const ControlAnswer& answer) {
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    if (clients_[i].fd.get() != fd) continue;
    const std::string reply = std::to_string(static_cast<int>(status_of(answer))) + "\n" + text_of(answer);
    // The reply is small, and this process does not wait: what does not fit into the socket is lost.
    [[maybe_unused]] const ssize_t sent = ::send(fd, reply.data(), reply.size(), MSG_NOSIGNAL);
    clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

Result<CtlReply> ask_ctl(pid_t pid, std::uint64_t start_ticks, uid_t uid, const ControlRequest& request) {
  return ask_ctl_text(pid, start_ticks, uid, to_lines(request));
}

Result<CtlReply> ask_ctl_text(pid_t pid, std::uint64_t start_ticks, uid_t uid, const std::string& lines) {
  UniqueFd fd;
  for (const uid_t user : {::geteuid(), uid}) {
    for (const std::string& folder : folders_of(user)) {
      if (fd || !check_folder(folder, user)) continue;
      if (auto connected = connect_to(folder + socket_name(pid, start_ticks))) fd = std::move(*connected);
    }
  }
  if (!fd)
    return fail(ErrorCategory::kRefused,
                "JVM " + std::to_string(pid) + " is not being traced (by a jtrace of this user)",
                "`jtrace attach " + std::to_string(pid) + "` traces it");
  auto sent = write_whole(fd.get(), lines, "the control socket");
  ::shutdown(fd.get(), SHUT_WR);
  const auto reply = sent ? read_whole(fd.get(), "the control socket", 1u << 20) : fail(std::move(sent).error());
  // A trace that ends closes its sockets with unread requests: the reset means the same as the end of the stream.
  if (!reply && reply.error().errnum != ECONNRESET && reply.error().errnum != EPIPE) return fail(reply.error());
  const std::size_t line = reply ? reply->find('\n') : std::string::npos;
  const auto status = reply ? parse_decimal<int>(std::string_view(*reply).substr(0, line)) : std::nullopt;
  if (!status || *status < 0 || *status > 9)
    return fail(ErrorCategory::kRefused, "the trace of JVM " + std::to_string(pid) + " ended before it answered");
  return CtlReply{static_cast<ExitStatus>(*status), line == std::string::npos ? "" : reply->substr(line + 1)};
}

}  // namespace jtrace::session
