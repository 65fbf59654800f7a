#include "tests/live/nats_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "base/unique_fd.h"
#include "tests/testlib/must.h"

namespace jtrace::test {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int free_port() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

UniqueFd connect_to(int port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

}  // namespace

NatsServer::NatsServer(std::string configuration) : port_(free_port()) {
  std::ofstream(scratch_.file("conf")) << "listen: \"127.0.0.1:" << port_ << "\"\njetstream { store_dir: \""
                                       << scratch_.file("store") << "\" }\n"
                                       << configuration;
  start();
}

bool NatsServer::is_installed() { return ::access("/usr/sbin/nats-server", X_OK) == 0; }

void NatsServer::start() {
  server_ = must(BackgroundCommand::start({"/usr/sbin/nats-server", "-c", scratch_.file("conf")}));
  if (!server_->wait_err_line("", std::chrono::seconds(1))) FAIL() << "nats-server did not start";
  for (int i = 0; i < 500 && !connect_to(port_); ++i) ::usleep(20'000);
}

void NatsServer::kill() {
  server_->signal(SIGKILL);
  (void)server_->wait_exit();
}

void NatsServer::send(const std::string& protocol) const {
  const UniqueFd fd = connect_to(port_);
  char greeting[4096];
  ASSERT_GT(::read(fd.get(), greeting, sizeof greeting), 0);
  const std::string all = "CONNECT {\"verbose\":false}\r\n" + protocol + "PING\r\n";
  ASSERT_EQ(::write(fd.get(), all.data(), all.size()), static_cast<ssize_t>(all.size()));
  ASSERT_GT(::read(fd.get(), greeting, sizeof greeting), 0);
}

}  // namespace jtrace::test
