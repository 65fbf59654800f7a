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
#include "trace/record/field_reader.h"
#include "trace/record/frames.h"

namespace jtrace::session {

// Hello, Started, Refused, Answer: the fields of frames.def.
#define FRAME(Name, text) struct Name {
#define FIELD(type, member, text) trace::record::fields_read::type member{};
#define FRAME_END(Name) \
  }                     \
  ;
#include "trace/record/frames.def"

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

namespace detail {
struct Payload {  // what write_fields() writes into
  std::string bytes;
  template <class T>
  void put(T value) {
    put_bytes(&value, sizeof value);
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes.append(text);
  }
  void put_bytes(const void* from, std::size_t size) { bytes.append(static_cast<const char*>(from), size); }
};
}  // namespace detail

template <class Fields>
Result<> ControlChannel::send(const Fields& fields) {
  detail::Payload payload;
  write_fields(payload, fields);
  return send(Fields::kType, payload.bytes);
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
