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
  // Who is at the other end (SO_PEERCRED).
  Result<ucred> peer() const;

  // Reads what has arrived. Error: kMalformed, an impossible frame; nothing is read after it.
  Result<> receive();
  // The next whole frame that was received.
  std::optional<Frame> next();
  // The other end is gone (or sent nonsense). Frames received before it are still there.
  bool hung_up() const { return hung_up_; }

  // A frame, with a descriptor where `fd` is one.
  Result<> send(trace::record::FrameType type, std::string_view payload = {}, int fd = -1);
  // A frame of frames.def.
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

// Where the version is not ours, nothing else is set.
Result<Hello> decode_hello(std::string_view payload);
Result<Started> decode_started(std::string_view payload);
Result<Answer> decode_answer(std::string_view payload);
// Why the agent does not do what it was asked for; "": it does.
std::string refusal_in(const Answer& answer);
// What every answer says of the agent, as `jtrace ctl status` has it: key=value lines.
std::string agent_lines(const Answer& answer);

}  // namespace jtrace::session
