#include "debug/endpoint.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::debug {
namespace {

// The 16 bytes of an address, IPv4 as IPv6 maps it (::ffff:a.b.c.d), and the port.
struct Plain {
  std::array<std::uint8_t, 16> bytes{};
  std::uint16_t port = 0;
  bool operator==(const Plain&) const = default;
};

Plain mapped(const void* four) {
  Plain plain;
  plain.bytes[10] = plain.bytes[11] = 0xff;
  std::memcpy(plain.bytes.data() + 12, four, 4);
  return plain;
}

Plain plain_of(const Endpoint& endpoint) {
  if (endpoint.storage.ss_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &endpoint.storage, sizeof four);
    Plain plain = mapped(&four.sin_addr);
    plain.port = ntohs(four.sin_port);
    return plain;
  }
  sockaddr_in6 six{};
  std::memcpy(&six, &endpoint.storage, sizeof six);
  Plain plain;
  std::memcpy(plain.bytes.data(), &six.sin6_addr, 16);
  plain.port = ntohs(six.sin6_port);
  return plain;
}

// "0100007F:1F90", or 32 digits before the colon: words of the address as this machine has them in memory.
std::optional<Plain> parse_entry(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != 8 && colon != 32) return std::nullopt;
  std::array<std::uint32_t, 4> words{};
  unsigned port = 0;
  for (std::size_t i = 0; i < colon / 8; ++i)
    if (std::sscanf(std::string(text.substr(i * 8, 8)).c_str(), "%8x", &words[i]) != 1) return std::nullopt;
  if (std::sscanf(std::string(text.substr(colon + 1)).c_str(), "%4x", &port) != 1) return std::nullopt;
  Plain plain;
  if (colon == 8) plain = mapped(words.data());
  else std::memcpy(plain.bytes.data(), words.data(), 16);
  plain.port = static_cast<std::uint16_t>(port);
  return plain;
}

template <int (*kName)(int, sockaddr*, socklen_t*)>
std::optional<Endpoint> name_of(int socket) {
  Endpoint endpoint;
  endpoint.size = sizeof endpoint.storage;
  if (kName(socket, reinterpret_cast<sockaddr*>(&endpoint.storage), &endpoint.size) != 0) return std::nullopt;
  return endpoint;
}

int own_name(int socket, sockaddr* address, socklen_t* size) { return ::getsockname(socket, address, size); }
int peer_name(int socket, sockaddr* address, socklen_t* size) { return ::getpeername(socket, address, size); }

}  // namespace

Result<Endpoint> Endpoint::parse(const std::string& text) {
  const auto wrong = [&] {
    return fail(ErrorCategory::kUsage, "not an address: '" + text + "'", "for example 127.0.0.1:5005 or [::1]:5005");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return wrong();
  const auto port = parse_decimal<std::uint16_t>(text.substr(colon + 1));
  std::string host = text.substr(0, colon);
  if (!port) return wrong();
  Endpoint endpoint;
  if (host.starts_with('[') && host.ends_with(']')) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(*port);
    if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six.sin6_addr) != 1) return wrong();
    endpoint.size = sizeof six;
    std::memcpy(&endpoint.storage, &six, sizeof six);
    return endpoint;
  }
  if (host == "localhost") host = "127.0.0.1";
  if (host.empty() || host == "*") host = "0.0.0.0";
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(*port);
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) return wrong();
  endpoint.size = sizeof four;
  std::memcpy(&endpoint.storage, &four, sizeof four);
  return endpoint;
}

std::string Endpoint::text() const {
  const Plain plain = plain_of(*this);
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, plain.bytes.data() + 12, text, sizeof text);
    return std::string(text) + ":" + std::to_string(plain.port);
  }
  ::inet_ntop(AF_INET6, plain.bytes.data(), text, sizeof text);
  return "[" + std::string(text) + "]:" + std::to_string(plain.port);
}

bool Endpoint::is_loopback() const {
  const Plain plain = plain_of(*this);
  in6_addr six{};
  std::memcpy(&six, plain.bytes.data(), 16);
  return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && plain.bytes[12] == 127);
}

Result<Listener> Listener::open(const Endpoint& at) {
  Listener listener;
  listener.socket_.reset(::socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.socket_) return fail(system_error("cannot open a socket"));
  const int on = 1;
  ::setsockopt(listener.socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listener.socket_.get(), at.address(), at.size) != 0 || ::listen(listener.socket_.get(), 1) != 0)
    return fail(system_error("cannot listen on " + at.text()));
  const auto name = name_of<own_name>(listener.socket_.get());
  if (!name) return fail(system_error("cannot listen on " + at.text()));
  listener.at_ = *name;
  return listener;
}

std::optional<UniqueFd> Listener::accept() {
  UniqueFd client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client) return std::nullopt;
  set_no_delay(client.get());
  return client;
}

Result<UniqueFd> connect_to(const Endpoint& to) {
  UniqueFd socket(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail(system_error("cannot open a socket"));
  if (::connect(socket.get(), to.address(), to.size) != 0)
    return fail(system_error("cannot connect to the debugger at " + to.text())
                    .with_help("start it first, for example: jdb -listen " + to.text()));
  set_no_delay(socket.get());
  return socket;
}

void set_no_delay(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Columns: number, local, remote, state, queues, timer, retransmissions, user, ... (proc_pid_net(5)).
std::optional<uid_t> parse_peer(std::string_view table, const Endpoint& peer, const Endpoint& own) {
  for (const std::string_view line : split(table, '\n')) {
    std::vector<std::string_view> columns;
    for (const std::string_view word : split(line, ' '))
      if (!word.empty()) columns.push_back(word);
    if (columns.size() < 8) continue;
    const auto local = parse_entry(columns[1]), remote = parse_entry(columns[2]);
    if (local && remote && *local == plain_of(peer) && *remote == plain_of(own))
      return parse_decimal<uid_t>(columns[7]);
  }
  return std::nullopt;
}

std::optional<uid_t> peer_of(int socket) {
  const auto own = name_of<own_name>(socket), peer = name_of<peer_name>(socket);
  if (!own || !peer) return std::nullopt;
  for (const char* path : {"/proc/self/net/tcp", "/proc/self/net/tcp6"})
    if (const auto table = read_file(path))
      if (const auto uid = parse_peer(*table, *peer, *own)) return uid;
  return std::nullopt;
}

std::string why_not(int socket) {
  const auto peer = name_of<peer_name>(socket);
  if (!peer) return "it is gone";
  if (!peer->is_loopback()) return "";  // listening there was asked for by name
  const auto uid = peer_of(socket);
  if (!uid) return "the kernel does not report whose connection it is";
  if (*uid == ::geteuid() || *uid == 0) return "";
  return "it belongs to user " + std::to_string(*uid) + ": only user " + std::to_string(::geteuid()) +
         " and root may look";
}

}  // namespace jtrace::debug
