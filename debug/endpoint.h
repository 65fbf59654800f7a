// Where a debugger and jtrace meet: an address to listen on, or one to connect to, and who the peer is.
//
// JDWP knows no password, and loopback is open to every user of the machine: the kernel is asked whose socket the other
// end is. Values and owners of sockets. Threads: one at a time.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::debug {

struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = 0;
  // "127.0.0.1:5005", "[::1]:0", "localhost:5005", ":5005" (every address).
  static Result<Endpoint> parse(const std::string& text);
  std::string text() const;
  bool is_loopback() const;
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Listens until one has connected; then the socket is closed, so that a second client is refused at once.
class Listener {
 public:
  static Result<Listener> open(const Endpoint& at);
  const Endpoint& at() const { return at_; }  // with the port that the kernel chose
  int fd() const { return socket_.get(); }
  // The next client, closed sockets aside; nothing if there is none after all.
  std::optional<UniqueFd> accept();

 private:
  UniqueFd socket_;
  Endpoint at_;
};

Result<UniqueFd> connect_to(const Endpoint& to);
// No delay: each small reply would wait for an acknowledgement otherwise.
void set_no_delay(int socket);

// The user to whom the other end of a connection within this machine belongs (/proc/net/tcp, tcp6); nothing if the
// kernel does not know it.
std::optional<uid_t> peer_of(int socket);
// The same from the text of such a file. `peer`, `own`: as the peer sees them.
std::optional<uid_t> parse_peer(std::string_view table, const Endpoint& peer, const Endpoint& own);
// Why a peer is refused; "" if it is welcome: on loopback only this user and root.
std::string why_not(int socket);

}  // namespace jtrace::debug
