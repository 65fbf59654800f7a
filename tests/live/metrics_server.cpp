#include "tests/live/metrics_server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/live/perfdata_support.h"

namespace jtrace::test {

std::string body_of(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == answer.npos ? "" : answer.substr(end + 4);
}

std::string http_get(std::uint16_t port, const std::string& path, const std::string& accept) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n";
  if (!accept.empty()) request += "Accept: " + accept + "\r\n";
  request += "Connection: close\r\n\r\n";
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return {};
  std::string answer;
  char buffer[65536];
  for (ssize_t count; (count = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(count));
  return answer;
}

Result<std::unique_ptr<Server>> Server::start(const std::vector<std::string>& words) {
  auto server = std::unique_ptr<Server>(new Server);
  std::vector<std::string> argv{hsperf_binary(), "serve", "--listen", "127.0.0.1:0"};
  argv.insert(argv.end(), words.begin(), words.end());
  JTRACE_ASSIGN_OR_RETURN(server->command_, BackgroundCommand::start(argv));
  const auto line = server->command_->wait_err_line("hsperf: serving http://127.0.0.1:", std::chrono::seconds(60));
  if (!line) return fail(ErrorCategory::kRefused, "hsperf serve: " + server->command_->err());
  server->port_ = static_cast<std::uint16_t>(std::stoi(line->substr(line->rfind(':') + 1)));
  return server;
}

std::string Server::metrics(const std::string& accept) const { return body_of(http_get(port_, "/metrics", accept)); }

}  // namespace jtrace::test
