// Frames over the control socket (trace/record/control.h). Never raises SIGPIPE; waits at most for the socket's
// time-outs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/byte_buffer.h"
#include "base/unique_fd.h"
#include "trace/record/frames.h"

namespace jtrace::agent {

namespace record = trace::record;

struct Frame {
  record::FrameType type{};
  std::vector<std::byte> payload;
  UniqueFd descriptor;  // received with it (SCM_RIGHTS), or none
};

bool send_frame(int socket, record::FrameType type, const void* payload, std::size_t size);
inline bool send_frame(int socket, record::FrameType type, const ByteBuffer& payload) {
  return send_frame(socket, type, payload.data(), payload.size());
}
// Sends a frame of frames.def.
template <class Fields>
bool send_frame(int socket, const Fields& fields) {
  ByteBuffer payload;
  write_fields(payload, fields);
  return send_frame(socket, Fields::kType, payload);
}
// False at the hang-up, at a time-out, and for a frame larger than kMaxFrameSize.
bool receive_frame(int socket, Frame& frame);

// A socket connected to the abstract or file address `path`, or none.
UniqueFd connect_to(std::string_view path);
// Limits every later send and receive; 0: no limit.
void set_time_out(int socket, unsigned seconds);

}  // namespace jtrace::agent
