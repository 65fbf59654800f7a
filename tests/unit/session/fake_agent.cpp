#include "tests/unit/session/fake_agent.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "session/control_channel.h"

namespace jtrace::session {
namespace {

using trace::record::FrameHeader;
using trace::record::FrameType;

void send_frame(int socket, FrameType type, const std::string& payload) {
  const FrameHeader header{type, static_cast<std::uint32_t>(payload.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += payload;
  if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) ::_exit(3);
}

// Receives a frame, and its descriptor if it has one.
FrameType receive_frame(int socket, int& descriptor) {
  FrameHeader header{};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{&header, sizeof header};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, MSG_WAITALL) != sizeof header) ::_exit(0);  // jtrace has closed the socket
  if (const cmsghdr* rights = CMSG_FIRSTHDR(&message)) std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
  std::string payload(header.size, '\0');
  if (header.size != 0 && ::recv(socket, payload.data(), payload.size(), MSG_WAITALL) < 0) ::_exit(4);
  return header.type;
}

template <class Fields>
void send_frame(int socket, const Fields& fields) {
  send_frame(socket, Fields::kType, frame_bytes(fields));
}

}  // namespace

FakeAgent::FakeAgent(Work work) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(pair[0]);
    run(pair[1], work);
  }
  ::close(pair[1]);
  socket_.reset(pair[0]);
}

FakeAgent::~FakeAgent() {
  if (pid_ > 0) kill();
}

void FakeAgent::kill() {
  ::kill(pid_, SIGKILL);
  wait();
}

int FakeAgent::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

void FakeAgent::run(int socket, const Work& work) {
  int descriptor = -1;
  if (receive_frame(socket, descriptor) != FrameType::kStart || descriptor < 0) ::_exit(2);
  trace::record::PoolHeader header;
  if (::pread(descriptor, static_cast<void*>(&header), sizeof header, 0) != sizeof header) ::_exit(2);
  void* base = ::mmap(nullptr, header.pool_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  send_frame(socket, trace::record::StartedFields{.events = ~0ull});
  if (!work(trace::record::Pool(base))) ::_exit(0);
  std::uint64_t asked = 0;
  for (;;) {
    const FrameType type = receive_frame(socket, descriptor);
    if (type == FrameType::kCount) {
      send_frame(socket, trace::record::CountsFields{.counts = {{kCountedMethod, 10 * ++asked}, {kUnknownMethod, 1}}});
      const std::string coverage = "asked=" + std::to_string(asked);
      send_frame(socket, trace::record::AnswerFields{.has_counts = 1, .counted = 2, .coverage = coverage});
      continue;
    }
    if (type != FrameType::kDetach) {
      send_frame(socket, trace::record::AnswerFields{});
      continue;
    }
    send_frame(socket, FrameType::kDetached, "");
    ::_exit(0);
  }
}

}  // namespace jtrace::session
