#include "tests/live/collector_server.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace jtrace::test {

CollectorServer::CollectorServer() : CollectorServer([](std::size_t) { return answer(200, "{}"); }) {}

CollectorServer::CollectorServer(Script script)
    : script_(std::move(script)),
      listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
      ::listen(listening_.get(), 16) == 0 &&
      ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0)
    port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

CollectorServer::~CollectorServer() {
  (void)::eventfd_write(stop_.get(), 1);
  thread_.join();
}

std::string CollectorServer::answer(int status, const std::string& body, const std::string& headers) {
  return "HTTP/1.1 " + std::to_string(status) + " Status\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::vector<CollectedRequest> CollectorServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void CollectorServer::run() {
  for (;;) {
    pollfd polled[] = {{listening_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0) continue;
    if (polled[1].revents != 0) return;
    const UniqueFd client(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client) serve(client.get());
  }
}

void CollectorServer::serve(int fd) {
  std::string text;
  std::size_t end = text.npos, length = 0;
  char buffer[65536];
  while (end == text.npos || text.size() < end + 4 + length) {
    const ssize_t count = ::recv(fd, buffer, sizeof buffer, 0);
    if (count <= 0) return;
    text.append(buffer, static_cast<std::size_t>(count));
    end = text.find("\r\n\r\n");
    if (const std::size_t at = text.find("Content-Length: "); at < end) length = std::stoul(text.substr(at + 16));
  }
  std::size_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = requests_.size();
    requests_.push_back({text.substr(0, end), text.substr(end + 4)});
  }
  const std::string answer = script_(number);
  (void)::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
}

}  // namespace jtrace::test
