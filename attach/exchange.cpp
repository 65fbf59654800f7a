#include "attach/exchange.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/size_text.h"

namespace jtrace::attach {
namespace {

constexpr std::size_t kChunk = 64 * 1024;
constexpr std::uint64_t kKeepFree = 1u << 30;      // bytes that stay free on the spool's disk, or 5 % of it
constexpr std::uint64_t kSpoolStep = 16u << 20;    // bytes between two checks of the free room
constexpr std::size_t kKeptOfSpooled = 64 * 1024;  // enough of a spooled reply to find a failure in its text

// /var/tmp is for large files and on a disk (file-hierarchy(7)); /tmp is often memory.
std::string spool_directory() {
  const char* configured = std::getenv("TMPDIR");
  if (configured && *configured == '/') return configured;
  return ::access("/var/tmp", W_OK | X_OK) == 0 ? "/var/tmp" : "/tmp";
}

Result<UniqueFd> make_spool() {
  const std::string directory = spool_directory();
  UniqueFd file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  std::string name = directory + "/jtrace-spool-XXXXXX";
  file.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!file)
    return fail(system_error("cannot make a spool file", directory).with_help("set TMPDIR to a place with room"));
  ::unlink(name.c_str());
  return file;
}

// A JVM may answer endlessly: the disk must not be filled.
Result<> check_room(int spool, std::uint64_t spooled) {
  struct statvfs system {};
  if (::fstatvfs(spool, &system) != 0) return {};
  const std::uint64_t unit = system.f_frsize;
  const std::uint64_t keep_free = std::min<std::uint64_t>(kKeepFree, system.f_blocks * unit / 20);
  if (system.f_bavail * unit > keep_free + kSpoolStep) return {};
  return fail(ErrorCategory::kPartial,
              "the reply is too long for " + spool_directory() + ": " + size_text(spooled) + " came so far",
              "set TMPDIR to a place with room");
}

// A killed process closes its connections after its address space is gone (kernel/exit.c: exit_mm before exit_files),
// and with that its command line is gone.
bool has_lost_memory(const target::Process& process) {
  char byte = 0;
  if (::readlinkat(process.proc_fd(), "exe", &byte, 1) > 0) return false;
  if (errno == ENOENT || errno == ESRCH) return true;
  // This user may not see the memory; the command line is visible to all users.
  const UniqueFd file(::openat(process.proc_fd(), "cmdline", O_RDONLY | O_CLOEXEC));
  return !file || ::read(file.get(), &byte, 1) <= 0;
}

}  // namespace

Result<> Reply::write_to(int fd, std::string_view path) const {
  if (!spool) return write_whole(fd, data, path);
  char buffer[kChunk];
  for (std::uint64_t at = 0; at < size;) {
    const ssize_t count = ::pread(spool.get(), buffer, sizeof buffer, static_cast<off_t>(at));
    if (count <= 0) return fail(system_error("cannot read the spooled reply"));
    JTRACE_RETURN_IF_ERROR(write_whole(fd, std::string_view(buffer, static_cast<std::size_t>(count)), path));
    at += static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<bool> Exchange::advance() {
  char buffer[kChunk];
  for (;;) {
    const ssize_t count = ::recv(connection_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (count <= 0) return end(count == 0 ? 0 : errno);
    bytes_ += static_cast<std::uint64_t>(count);
    JTRACE_RETURN_IF_ERROR(store(parser_.feed(std::string_view(buffer, static_cast<std::size_t>(count)))));
    if (parser_.malformed()) return fail(ErrorCategory::kMalformed, "the answer is not that of an attach listener");
  }
}

Result<> Exchange::store(std::string_view data) {
  if (data.empty()) return {};
  reply_.size += data.size();
  if (!reply_.spool && reply_.size <= memory_limit_) {
    reply_.data += data;
    return {};
  }
  return spool(data);
}

Result<> Exchange::spool(std::string_view data) {
  constexpr std::string_view kName = "spool file";
  if (!reply_.spool) {
    JTRACE_ASSIGN_OR_RETURN(reply_.spool, make_spool());
    JTRACE_RETURN_IF_ERROR(write_whole(reply_.spool.get(), reply_.data, kName));
    if (reply_.data.size() > kKeptOfSpooled) {
      reply_.data.resize(kKeptOfSpooled);
      reply_.data.shrink_to_fit();
    }
  }
  if (reply_.size / kSpoolStep != (reply_.size - data.size()) / kSpoolStep)
    JTRACE_RETURN_IF_ERROR(check_room(reply_.spool.get(), reply_.size));
  // The first bytes are kept for the evaluation of the reply.
  if (reply_.data.size() < kKeptOfSpooled) reply_.data += data.substr(0, kKeptOfSpooled - reply_.data.size());
  return write_whole(reply_.spool.get(), data, kName);
}

Result<bool> Exchange::end(int errnum) {
  parser_.finish();
  // A reset after data is a normal end: the JVM left unread input. So only the end of the JVM shows that a reply is
  // truncated.
  const bool gone = has_lost_memory(*process_);
  reply_.cut = gone;
  if (parser_.code() || (parser_.malformed() && bytes_ == 0)) return true;
  if (parser_.malformed()) return fail(ErrorCategory::kMalformed, "the answer is not that of an attach listener");
  if (gone) return true;
  Error error{.category = ErrorCategory::kRefused};
  error.text = "the JVM closed the connection without an answer: it did not accept our credentials (it runs as uid " +
               std::to_string(process_->uid()) + " gid " + std::to_string(process_->gid()) +
               "; JDK 8 accepts no other user, not even root), or the request was too long for its protocol";
  error.errnum = errnum;
  return fail(std::move(error));
}

Result<Reply> Exchange::take() {
  if (!parser_.code()) {
    Error error{.category = ErrorCategory::kPartial};
    error.text = "the JVM (process " + std::to_string(process_->pid()) +
                 ") exited during the command; 0 bytes of the reply kept";
    return fail(std::move(error));
  }
  reply_.code = *parser_.code();
  return std::move(reply_);
}

Result<> send_request(int connection, std::string_view request, const Waiter& waiter) {
  while (!request.empty()) {
    const ssize_t count = ::send(connection, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) request.remove_prefix(static_cast<std::size_t>(count));
    if (count > 0 || (count < 0 && errno == EINTR)) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return fail(system_error("cannot send the request"));
    const Woken woken = waiter.wait_fd(connection, POLLOUT);
    if (woken == Woken::kTimeout) return fail(ErrorCategory::kTimeout, "the JVM does not read the request");
    if (woken == Woken::kCancelled) return fail(ErrorCategory::kRefused, "interrupted");
  }
  return {};
}

}  // namespace jtrace::attach
