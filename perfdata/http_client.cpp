#include "perfdata/http_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/unique_fd.h"

namespace jtrace::perfdata {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

std::optional<SocketAddress> numeric(const std::string& host, std::uint16_t port) {
  SocketAddress address;
  sockaddr_in6 six{};
  sockaddr_in four{};
  if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    address.size = sizeof six;
    std::memcpy(&address.storage, &six, sizeof six);
    return address;
  }
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) return std::nullopt;
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  address.size = sizeof four;
  std::memcpy(&address.storage, &four, sizeof four);
  return address;
}

// A static program has no other way to look up names (hosts(5)). All that a name has there, in their order: some
// cannot be used here, as those with a zone (fe80::1%eth0).
std::vector<std::string> addresses_in_hosts(const std::string& name) {
  std::vector<std::string> addresses;
  const std::string text = read_file("/etc/hosts", 1u << 20).value_or("");
  for (std::string_view line : split(text, '\n')) {
    line = line.substr(0, line.find('#'));
    std::string_view address;
    for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != line.npos;) {
      const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
      const std::string_view word = line.substr(at, end - at);
      if (address.empty()) address = word;
      else if (word == name) addresses.emplace_back(address);
      at = end;
    }
  }
  return addresses;
}

Result<SocketAddress> resolve(const HttpUrl& url) {
  if (const auto address = numeric(url.host == "localhost" ? "127.0.0.1" : url.host, url.port)) return *address;
  const std::vector<std::string> listed = addresses_in_hosts(url.host);
  for (const std::string& each : listed)
    if (const auto address = numeric(each, url.port)) return *address;
  return fail(ErrorCategory::kNotFound,
              "no address of '" + printable(url.host) + "' is known: " +
                  (listed.empty() ? "it is not in /etc/hosts" : "/etc/hosts has none for it that can be used here"),
              "give the address itself");
}

// A connection with a limit of time for all that is done with it.
class Connection {
 public:
  Connection(const HttpPost& post, int stop_fd)
      : where_(post.url.authority()),
        until_(monotonic_ns() + static_cast<std::uint64_t>(post.patience.count()) * 1'000'000),
        stop_fd_(stop_fd) {}

  Result<> open(const SocketAddress& address) {
    fd_.reset(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd_) return fail(system_error("cannot open a socket"));
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0) return {};
    if (errno != EINPROGRESS) return not_connected(errno);
    JTRACE_RETURN_IF_ERROR(wait(POLLOUT, "it does not accept the connection"));
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    return error == 0 ? Result<>() : not_connected(error);
  }

  // False if the server wants no more of it: it may have answered already.
  Result<bool> send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(count));
        continue;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return false;
      JTRACE_RETURN_IF_ERROR(wait(POLLOUT, "it does not take what is sent"));
    }
    return true;
  }

  Result<HttpReply> receive() {
    std::string received;
    for (;;) {
      char buffer[16384];
      const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) {
        JTRACE_RETURN_IF_ERROR(wait(POLLIN, "it does not answer"));
        continue;
      }
      if (count > 0) received.append(buffer, static_cast<std::size_t>(count));
      auto reply = read_http_reply(received, count <= 0);
      if (!reply) return fail(reply.error().with_context(where_));
      if (*reply) return std::move(**reply);
    }
  }

 private:
  tl::unexpected<Error> not_connected(int error) const {
    Error refused = system_error(error, "cannot connect to " + where_);
    refused.category = ErrorCategory::kRefused;
    return fail(std::move(refused));
  }

  Result<> wait(short events, const std::string& what) const {
    for (;;) {
      const std::uint64_t now = monotonic_ns();
      if (now >= until_) return fail(ErrorCategory::kTimeout, where_ + ": " + what);
      pollfd polled[] = {{fd_.get(), events, 0}, {stop_fd_, POLLIN, 0}};
      const std::uint64_t left = std::min<std::uint64_t>(until_ - now, kNanosPerSecond);
      const timespec timeout{static_cast<time_t>(left / kNanosPerSecond), static_cast<long>(left % kNanosPerSecond)};
      if (::ppoll(polled, stop_fd_ >= 0 ? 2 : 1, &timeout, nullptr) < 0 && errno != EINTR)
        return fail(system_error("cannot wait for " + where_));
      if (polled[0].revents != 0) return {};
      if (polled[1].revents != 0) return fail(ErrorCategory::kTimeout, where_ + ": " + what + " before the end");
    }
  }

  std::string where_;
  std::uint64_t until_;  // CLOCK_MONOTONIC
  int stop_fd_;
  UniqueFd fd_;
};

std::string head_of(const HttpPost& post, std::size_t size) {
  std::string head = "POST " + post.url.path + " HTTP/1.1\r\nHost: " + post.url.authority();
  head += "\r\nUser-Agent: hsperf/" JTRACE_VERSION "\r\nContent-Type: " + post.content_type;
  head += "\r\nContent-Length: " + std::to_string(size) + "\r\nConnection: close\r\n";
  for (const auto& [name, value] : post.headers) head.append(name).append(": ").append(value).append("\r\n");
  return head + "\r\n";
}

}  // namespace

Result<> check_host(const HttpUrl& url) {
  JTRACE_RETURN_IF_ERROR(resolve(url));
  return {};
}

Result<HttpReply> http_post(const HttpPost& post, std::string_view body, int stop_fd) {
  JTRACE_ASSIGN_OR_RETURN(const SocketAddress address, resolve(post.url));
  Connection connection(post, stop_fd);
  JTRACE_RETURN_IF_ERROR(connection.open(address));
  JTRACE_ASSIGN_OR_RETURN(const bool taken, connection.send(head_of(post, body.size())));
  if (taken) JTRACE_RETURN_IF_ERROR(connection.send(body));
  return connection.receive();
}

}  // namespace jtrace::perfdata
