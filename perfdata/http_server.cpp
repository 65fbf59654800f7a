#include "perfdata/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/strings.h"

namespace jtrace::perfdata {
namespace {

using Clock = std::chrono::steady_clock;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  bool loopback = false;
};

Result<Address> parse_address(const std::string& text) {
  const auto wrong = [&] {
    return fail(ErrorCategory::kUsage, "not an address to listen on: '" + text + "'",
                "for example 127.0.0.1:9797 or [::1]:9797");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return wrong();
  const auto port = parse_decimal<std::uint16_t>(text.substr(colon + 1));
  std::string host = text.substr(0, colon);
  if (!port) return wrong();
  Address address;
  if (host.starts_with('[') && host.ends_with(']')) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(*port);
    if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six.sin6_addr) != 1) return wrong();
    address.loopback = IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
    address.size = sizeof six;
    std::memcpy(&address.storage, &six, sizeof six);
    return address;
  }
  if (host == "localhost") host = "127.0.0.1";
  if (host.empty()) host = "0.0.0.0";
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(*port);
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) return wrong();
  address.loopback = (ntohl(four.sin_addr.s_addr) >> 24) == 127;
  address.size = sizeof four;
  std::memcpy(&address.storage, &four, sizeof four);
  return address;
}

std::string_view reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    default: return "Internal Server Error";
  }
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](unsigned char x, unsigned char y) {
           return std::tolower(x) == std::tolower(y);
         });
}

}  // namespace

bool parse_http_request(std::string_view text, HttpRequest& request) {
  if (text.find("\r\n\r\n") == text.npos) return false;
  bool first = true;
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) break;
    if (first) {
      const auto words = split(line, ' ');
      if (words.size() == 3) {
        request.method = words[0];
        request.path = words[1].substr(0, words[1].find('?'));
      }
      first = false;
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (same_word(line.substr(0, colon), "accept")) request.accept = value;
    if (same_word(line.substr(0, colon), "host")) request.host = value;
  }
  return true;
}

Result<HttpServer> HttpServer::listen(const std::string& text, Handler handler) {
  JTRACE_ASSIGN_OR_RETURN(const Address address, parse_address(text));
  HttpServer server;
  server.handler_ = std::move(handler);
  server.loopback_ = address.loopback;
  server.socket_.reset(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!server.socket_) return fail(system_error("cannot open a socket"));
  const int on = 1;
  ::setsockopt(server.socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(server.socket_.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0)
    return fail(system_error("cannot listen on " + text));
  if (::listen(server.socket_.get(), 64) != 0) return fail(system_error("cannot listen on " + text));
  return server;
}

std::string HttpServer::address() const {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) return "?";
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &storage, sizeof six);
    ::inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(six.sin6_port));
  }
  sockaddr_in four{};
  std::memcpy(&four, &storage, sizeof four);
  ::inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
  return std::string(text) + ":" + std::to_string(ntohs(four.sin_port));
}

void HttpServer::accept_all() {
  for (;;) {
    UniqueFd fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    if (clients_.size() >= kMaxClients) continue;  // closed at once
    clients_.push_back({.fd = std::move(fd), .until = Clock::now() + kPatience});
  }
}

void HttpServer::answer(Client& client) {
  HttpRequest request;
  HttpResponse response;
  parse_http_request(client.in, request);
  if (request.method.empty()) response = {.status = 400, .body = "not a request\n"};
  else if (request.method != "GET" && request.method != "HEAD") response = {.status = 405, .body = "GET only\n"};
  else response = handler_(request);
  client.out = "HTTP/1.1 " + std::to_string(response.status) + " " + std::string(reason(response.status)) + "\r\n";
  client.out += "Content-Type: " + response.type + "\r\nContent-Length: " + std::to_string(response.body.size());
  client.out += "\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n";
  if (request.method != "HEAD") client.out += response.body;
}

bool HttpServer::serve(Client& client, short events) {
  if (Clock::now() > client.until || (events & (POLLERR | POLLNVAL)) != 0) return false;
  if (client.out.empty() && (events & (POLLIN | POLLHUP)) != 0) {
    char buffer[4096];
    const ssize_t count = ::recv(client.fd.get(), buffer, sizeof buffer, 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (count > 0) client.in.append(buffer, static_cast<std::size_t>(count));
    if (client.in.size() > kMaxRequest) return false;
    if (client.in.find("\r\n\r\n") == client.in.npos) return true;
    answer(client);
  }
  if (client.out.empty()) return true;
  const ssize_t count =
      ::send(client.fd.get(), client.out.data() + client.sent, client.out.size() - client.sent, MSG_NOSIGNAL);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  client.sent += static_cast<std::size_t>(count);
  if (client.sent < client.out.size()) return true;
  ::shutdown(client.fd.get(), SHUT_WR);
  return false;
}

Result<> HttpServer::run(int stop_fd, std::chrono::milliseconds idle_interval, const std::function<void()>& idle) {
  auto next_idle = Clock::now() + idle_interval;
  for (;;) {
    std::vector<pollfd> polled = {{.fd = stop_fd, .events = POLLIN, .revents = 0},
                                  {.fd = socket_.get(), .events = POLLIN, .revents = 0}};
    for (const Client& client : clients_)
      polled.push_back(
          {.fd = client.fd.get(), .events = static_cast<short>(client.out.empty() ? POLLIN : POLLOUT), .revents = 0});
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next_idle - Clock::now()).count();
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(std::clamp<long>(left, 0, 1000)));
    if (ready < 0 && errno != EINTR) return fail(system_error("cannot wait for clients"));
    if (polled[0].revents != 0) return {};
    std::size_t index = 2;
    for (auto client = clients_.begin(); client != clients_.end(); ++index) {
      const short events = ready > 0 ? polled[index].revents : short{0};
      const bool late = Clock::now() > client->until;
      if (late || (events != 0 && !serve(*client, events))) client = clients_.erase(client);
      else ++client;
    }
    if (ready > 0 && polled[1].revents != 0) accept_all();
    if (Clock::now() >= next_idle) {
      idle();
      next_idle = Clock::now() + idle_interval;
    }
  }
}

}  // namespace jtrace::perfdata
