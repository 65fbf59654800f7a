// A client of JDWP for tests of `jtrace debug`: it sends what it is told, and knows nothing of debuggers.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "base/unique_fd.h"
#include "debug/packet.h"
#include "tests/testlib/background_command.h"

namespace jtrace::test {

using debug::PacketReader;
using debug::PacketWriter;

// Where a server of this machine listens; 0 if it does not.
inline std::uint16_t port_of(BackgroundCommand& server) {
  const auto line = server.wait_out_line("Listening for transport dt_socket at address: ", std::chrono::seconds(120));
  return line ? static_cast<std::uint16_t>(std::stoi(line->substr(line->find_last_of(':') + 1))) : std::uint16_t{0};
}

class JdwpClient {
 public:
  explicit JdwpClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }
  explicit JdwpClient(UniqueFd accepted) : socket_(std::move(accepted)), connected_(true) {}
  bool connected() const { return connected_; }
  void close() { socket_.reset(); }
  void send(std::string_view bytes) {
    EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  // "" at the end of the connection.
  std::string receive(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t done = 0; done < size;) {
      pollfd polled{socket_.get(), POLLIN, 0};
      if (::poll(&polled, 1, 120'000) <= 0) return "";
      const ssize_t count = ::recv(socket_.get(), bytes.data() + done, size - done, 0);
      if (count <= 0) return "";
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }
  void shake_hands() {
    send(debug::kHandshake);
    EXPECT_EQ(receive(debug::kHandshake.size()), debug::kHandshake);
  }
  // The next packet: id and error, or set and command.
  struct Packet {
    std::uint32_t id = 0;
    bool reply = false;
    std::uint16_t error = 0;
    std::string body;
  };
  Packet packet() {
    const std::string header = receive(11);
    if (header.empty()) return {.error = 0xffff};
    PacketReader in(std::as_bytes(std::span(header)));
    const auto length = static_cast<std::size_t>(in.i4());
    Packet packet{.id = static_cast<std::uint32_t>(in.i4())};
    packet.reply = in.u1() == 0x80;
    packet.error = static_cast<std::uint16_t>(in.u1() << 8);
    packet.error = static_cast<std::uint16_t>(packet.error | in.u1());
    packet.body = length > 11 ? receive(length - 11) : "";
    return packet;
  }
  Packet ask(std::uint8_t set, std::uint8_t command, const PacketWriter& body = {}) {
    send(debug::command_packet(++id_, set, command, body.bytes()));
    for (;;) {
      Packet answer = packet();
      if (answer.error == 0xffff || (answer.reply && answer.id == id_)) return answer;
    }
  }

 private:
  UniqueFd socket_;
  bool connected_ = false;
  std::uint32_t id_ = 0;
};

}  // namespace jtrace::test
