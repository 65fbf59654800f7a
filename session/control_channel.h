// ControlChannel: jtrace's end of the socket to the agent (trace/record/control.h). Frames are checked: the other end
// is a foreign process. Never blocks but in send(), for kSendLimit at the most. One thread.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "trace/record/control.h"

namespace jtrace::session {

struct Hello {
  std::uint32_t version = 0;  // of the control protocol; where it is not ours, nothing else is set
  std::uint32_t nspid = 0;
  std::uint32_t jvmti_version = 0;
  bool at_start = false;  // by -agentpath
  std::string agent_version;
  std::string options;
};
struct Started {
  std::uint32_t status = 0;  // 0: ok
  std::uint64_t events = 0;  // EventBit
  std::string text;
};
struct Frame {
  trace::record::FrameType type{};
  std::string payload;
};

class ControlChannel {
 public:
  ControlChannel() = default;
  explicit ControlChannel(UniqueFd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  explicit operator bool() const { return static_cast<bool>(socket_); }
  // Who is at the other end (SO_PEERCRED).
  Result<ucred> peer() const;

  // Reads what is there. Error: kMalformed, a frame that cannot be; nothing is read after it.
  Result<> receive();
  // The next whole frame that was received.
  std::optional<Frame> next();
  // The other end is gone (or sent nonsense). Frames received before it are still there.
  bool hung_up() const { return hung_up_; }

  // A frame, with a descriptor where `fd` is one.
  Result<> send(trace::record::FrameType type, std::string_view payload = {}, int fd = -1);
  Result<> send_text(trace::record::FrameType type, std::string_view text);
  void close() { socket_.reset(); }

 private:
  static constexpr int kSendLimit = 5000;  // ms
  UniqueFd socket_;
  std::string received_;
  bool hung_up_ = false;
};

Result<Hello> decode_hello(std::string_view payload);
Result<Started> decode_started(std::string_view payload);
Result<std::string> decode_text(std::string_view payload);

}  // namespace jtrace::session
