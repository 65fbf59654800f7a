// Session: one debugger, from the handshake to its end.
//
// A packet is answered before the next one is read. A client that does not keep to the protocol, or sends too much, is
// disconnected; the target never notices. Limits: 5 s for the handshake, 16 MiB for a packet, 30 s for a reply to be
// taken. It knows no target: others make the answers. Owns the socket. Threads: one at a time.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "debug/client.h"
#include "debug/packet.h"

namespace jtrace::debug {

struct SessionOptions {
  int stop_fd = -1;               // readable: end, and inform the client that the VM is gone
  std::function<bool()> is_over;  // asked at least every 500 ms: the same
  std::chrono::milliseconds handshake{5000};
  std::chrono::milliseconds take{30000};
};

// The whole reply to a command.
using Answer = std::function<std::string(Client& client, const CommandHeader& header, std::span<const std::byte> body)>;

// After the handshake: the thread that the client begins at; 0 for none. An error ends the session.
using Start = std::function<Result<Id>()>;

class Session {
 public:
  Session(Start start, Answer answer, UniqueFd socket, SessionOptions options)
      : start_(std::move(start)),
        answer_(std::move(answer)),
        socket_(std::move(socket)),
        options_(std::move(options)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  enum class End {
    kGoodbye,  // Dispose or Exit
    kGone,     // the connection is closed
    kRefused,  // no debugger, or one that does not keep to the protocol: see why()
    kStopped,  // stop_fd or is_over
  };
  End run();  // closes the socket
  const std::string& why() const { return why_; }
  std::uint64_t packets() const { return packets_; }

 private:
  End serve();
  bool shake_hands();
  bool send_start();
  bool send(std::string_view bytes);
  enum class Wait { kReady, kGone, kStopped, kTimeout };
  Wait wait(short events, std::chrono::milliseconds most);
  Wait receive(std::chrono::milliseconds most);
  bool answer_packets();
  bool peer_is_gone() const;
  bool refuse(std::string why) { return why_ = std::move(why), false; }

  Start start_;
  Answer answer_;
  UniqueFd socket_;
  SessionOptions options_;
  Client client_;
  std::string received_, why_;
  std::uint64_t packets_ = 0;
  bool stopped_ = false;
};

}  // namespace jtrace::debug
