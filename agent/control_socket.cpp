#include "agent/control_socket.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cstring>

namespace jtrace::agent {
namespace {

bool send_all(int socket, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = send(socket, bytes, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// Receives `size` bytes; a descriptor that comes with them goes into `descriptor`.
bool receive_all(int socket, void* data, std::size_t size, UniqueFd& descriptor) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    iovec part{bytes, size};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
      descriptor.reset(fd);
    }
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

bool send_frame(int socket, record::FrameType type, const void* payload, std::size_t size) {
  const record::FrameHeader header{type, static_cast<std::uint32_t>(size)};
  return send_all(socket, &header, sizeof header) && send_all(socket, payload, size);
}

bool receive_frame(int socket, Frame& frame) {
  record::FrameHeader header{};
  if (!receive_all(socket, &header, sizeof header, frame.descriptor)) return false;
  if (header.size > record::kMaxFrameSize) return false;
  frame.type = header.type;
  frame.payload.resize(header.size);
  return receive_all(socket, frame.payload.data(), header.size, frame.descriptor);
}

UniqueFd connect_to(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return UniqueFd();
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return UniqueFd();
  return fd;
}

void set_time_out(int socket, unsigned seconds) {
  timeval limit{};
  limit.tv_sec = seconds;
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

}  // namespace jtrace::agent
