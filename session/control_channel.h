// ControlChannel: jtrace's end of the socket to the agent (trace/record/control.h). Frames are checked, because the
// other end is a foreign process. Only send() blocks, for kSendLimit at most. One thread.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "trace/record/frame_bytes.h"

namespace jtrace::session {

// Frames as they are received: the fields of frames.def, with texts of their own.
namespace received {
namespace types {
using namespace trace::record::frame_types;
using Utf8 = std::string;
}  // namespace types
#define ITEM(Name, text) struct Name {
#define FRAME(Name, text) struct Name {
#define FIELD(type, member, text) types::type member{};
#define ITEM_END(Name) \
  }                    \
  ;
#define FRAME_END(Name) \
  }                     \
  ;
#include "trace/record/frames.def"
}  // namespace received
using received::Answer;
using received::Hello;
using received::Started;

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
  // The credentials of the other end (SO_PEERCRED).
  Result<ucred> peer() const;

  // Reads what has arrived. kMalformed: an impossible frame; nothing is read after it.
  Result<> receive();
  // The next complete frame.
  std::optional<Frame> next();
  // The other end has closed (or sent an invalid frame). Frames received before that are still available.
  bool hung_up() const { return hung_up_; }

  // Sends a frame, with a descriptor if `fd` is one.
  Result<> send(trace::record::FrameType type, std::string_view payload = {}, int fd = -1);
  // Sends a frame of frames.def.
  template <class Fields>
  Result<> send(const Fields& fields);
  void close() { socket_.reset(); }

 private:
  static constexpr int kSendLimit = 5000;  // ms
  UniqueFd socket_;
  std::string received_;
  bool hung_up_ = false;
};

template <class Fields>
Result<> ControlChannel::send(const Fields& fields) {
  return send(Fields::kType, frame_bytes(fields));
}

// If the version is another one, no other field is set.
Result<Hello> decode_hello(std::string_view payload);
Result<Started> decode_started(std::string_view payload);
Result<Answer> decode_answer(std::string_view payload);
// Why the agent refuses the request; "": it accepts.
std::string refusal_in(const Answer& answer);
// The state of the agent in an answer, as `jtrace ctl status` prints it: key=value lines.
std::string agent_lines(const Answer& answer);

}  // namespace jtrace::session
