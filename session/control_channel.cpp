#include "session/control_channel.h"

#include <poll.h>

#include <cerrno>
#include <cstring>

#include "base/bytes.h"

namespace jtrace::session {

using trace::record::FrameHeader;
using trace::record::FrameType;

Result<ucred> ControlChannel::peer() const {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return fail(system_error("asking who is at the other end of the agent's socket"));
  return credentials;
}

Result<> ControlChannel::receive() {
  char bytes[65536];
  while (!hung_up_ && socket_) {
    const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) {
      received_.append(bytes, static_cast<std::size_t>(count));
      if (received_.size() > trace::record::kMaxFrameSize + sizeof bytes) break;  // the caller takes frames first
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    hung_up_ = true;
  }
  FrameHeader header{};
  if (received_.size() < sizeof header) return {};
  std::memcpy(&header, received_.data(), sizeof header);
  if (header.size <= trace::record::kMaxFrameSize) return {};
  hung_up_ = true;
  received_.clear();
  return fail(ErrorCategory::kMalformed, "the agent sent a frame of " + std::to_string(header.size) + " bytes");
}

std::optional<Frame> ControlChannel::next() {
  FrameHeader header{};
  if (received_.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, received_.data(), sizeof header);
  if (received_.size() - sizeof header < header.size) return std::nullopt;
  Frame frame{header.type, received_.substr(sizeof header, header.size)};
  received_.erase(0, sizeof header + header.size);
  return frame;
}

Result<> ControlChannel::send(FrameType type, std::string_view payload, int fd) {
  const FrameHeader header{type, static_cast<std::uint32_t>(payload.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += payload;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    iovec part{bytes.data() + sent, bytes.size() - sent};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (fd >= 0 && sent == 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    }
    const ssize_t count = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return fail(system_error("sending to the agent"));
    pollfd room{socket_.get(), POLLOUT, 0};
    if (::poll(&room, 1, kSendLimit) <= 0) return fail(ErrorCategory::kTimeout, "the agent takes no message");
  }
  return {};
}

namespace {

using namespace trace::record;

ByteReader reader_of(std::string_view payload) { return ByteReader(std::as_bytes(std::span(payload))); }
tl::unexpected<Error> malformed(std::string_view what) {
  return fail(ErrorCategory::kMalformed, "the agent's " + std::string(what) + " is malformed");
}

// The field as it is kept.
template <class Kept>
void keep(Kept& kept, const Kept& read) {
  kept = read;
}
void keep(std::string& kept, std::string_view read) { kept = read; }

// One function for each frame, with all its fields.
#define ITEM(Name, text) [[maybe_unused]] void keep_##Name##Item(received::Name& made, const Name##Item& read) {
#define FRAME(Name, text) [[maybe_unused]] void keep_fields(received::Name& made, const Name##Fields& read) {
#define FIELD(type, member, text) keep(made.member, read.member);
#define ITEM_END(Name) }
#define FRAME_END(Name) }
#include "trace/record/frames.def"

template <class Fields, class Kept>
Result<Kept> decode(std::string_view payload, std::string_view what) {
  ByteReader reader = reader_of(payload);
  Fields fields;
  read_fields(reader, fields);
  if (reader.failed()) return malformed(what);
  Kept made;
  keep_fields(made, fields);
  return made;
}

}  // namespace

Result<Hello> decode_hello(std::string_view payload) {
  ByteReader reader = reader_of(payload);
  const auto version = reader.read<std::uint32_t>();
  if (reader.failed()) return malformed("greeting");
  if (version != kControlVersion) return Hello{.version = version};
  return decode<HelloFields, Hello>(payload, "greeting");
}

Result<Started> decode_started(std::string_view payload) {
  return decode<StartedFields, Started>(payload, "answer to Start");
}

Result<Answer> decode_answer(std::string_view payload) { return decode<AnswerFields, Answer>(payload, "answer"); }

std::string refusal_in(const Answer& answer) {
  switch (static_cast<AnswerStatus>(answer.status)) {
    case AnswerStatus::kOk: return "";
    case AnswerStatus::kMalformed: return "the agent could not read the request";
    case AnswerStatus::kUnknownFrame: return "the agent does not know the request";
    case AnswerStatus::kNothingCounted: return "nothing is counted";
  }
  return "the agent refused the request";
}

std::string agent_lines(const Answer& answer) {
  std::string text =
      "paused=" + std::to_string(answer.paused) + "\ncollections=" + std::to_string(answer.collections) + "\n";
  if (answer.has_callouts != 0) text += "rewritten=" + answer.rewritten + "\n";
  return text;
}

}  // namespace jtrace::session
