#include "debug/session.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace jtrace::debug {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxPacket = 16u << 20;
constexpr std::size_t kPiece = 64u << 10;
constexpr milliseconds kLook{500};  // between two questions whether it is over

milliseconds now() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

Session::End Session::run() {
  const End end = serve();
  socket_.reset();
  return end;
}

Session::End Session::serve() {
  client_.gone = [this] { return peer_is_gone(); };
  if (!shake_hands() || !send_start()) return stopped_ ? End::kStopped : why_.empty() ? End::kGone : End::kRefused;
  for (;;) {
    if (!answer_packets()) return why_.empty() ? End::kGone : End::kRefused;
    if (client_.ended) return End::kGoodbye;
    switch (receive(milliseconds::max())) {
      case Wait::kReady: break;
      case Wait::kStopped: {
        PacketWriter body;
        body.u1(0).u4(1).u1(kVmDeath).u4(0);
        (void)send(command_packet(2, 64, 100, body.bytes()));
        return End::kStopped;
      }
      default: return End::kGone;
    }
  }
}

Session::Wait Session::wait(short events, milliseconds most) {
  const milliseconds start = now();
  for (;;) {
    const milliseconds gone = now() - start;
    if (gone >= most) return Wait::kTimeout;
    pollfd polled[] = {{socket_.get(), events, 0}, {options_.stop_fd, POLLIN, 0}};
    const auto next = static_cast<int>(std::min(kLook, most - gone).count());
    if (::poll(polled, options_.stop_fd < 0 ? 1 : 2, next) < 0 && errno != EINTR) return Wait::kGone;
    if (polled[1].revents != 0 || (options_.is_over && options_.is_over())) return stopped_ = true, Wait::kStopped;
    if ((polled[0].revents & events) != 0) return Wait::kReady;
    if ((polled[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return Wait::kGone;
  }
}

Session::Wait Session::receive(milliseconds most) {
  if (const Wait waited = wait(POLLIN, most); waited != Wait::kReady) return waited;
  char bytes[kPiece];
  const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Wait::kReady;
  if (count <= 0) return Wait::kGone;
  received_.append(bytes, static_cast<std::size_t>(count));
  return Wait::kReady;
}

bool Session::shake_hands() {
  const milliseconds until = now() + options_.handshake;
  while (received_.size() < kHandshake.size()) {
    if (!kHandshake.starts_with(received_))
      return refuse("it is not a debugger: it does not begin with JDWP-Handshake");
    const Wait waited = now() < until ? receive(until - now()) : Wait::kTimeout;
    if (waited == Wait::kTimeout) return refuse("it sent nothing for too long");
    if (waited != Wait::kReady) return false;
  }
  if (!received_.starts_with(kHandshake)) return refuse("it is not a debugger: it does not begin with JDWP-Handshake");
  received_.erase(0, kHandshake.size());
  return send(kHandshake);
}

// VM_START with everything suspended: clients then begin at a frame, and keep what they have learned.
bool Session::send_start() {
  const auto thread = start_();
  if (!thread) return refuse(thread.error().message());
  if (*thread == 0) return true;
  PacketWriter body;
  body.u1(kSuspendAll).u4(1).u1(kVmStart).u4(0).id(*thread);
  return send(command_packet(1, 64, 100, body.bytes()));
}

bool Session::send(std::string_view bytes) {
  const milliseconds until = now() + options_.take;
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    const Wait waited = now() < until ? wait(POLLOUT, until - now()) : Wait::kTimeout;
    if (waited == Wait::kTimeout) return refuse("it does not take its answers");
    if (waited != Wait::kReady) return false;
  }
  return true;
}

bool Session::answer_packets() {
  std::size_t at = 0;
  while (!client_.ended) {
    const auto bytes = std::as_bytes(std::span(received_)).subspan(at);
    const auto header = read_header(bytes);
    if (!header) break;
    if (header->length < kHeaderSize || header->length > kMaxPacket)
      return refuse("a packet of " + std::to_string(header->length) + " bytes");
    if (header->flags != 0) return refuse("a packet with the flags " + std::to_string(header->flags));
    if (bytes.size() < header->length) break;
    ++packets_;
    const auto body = bytes.subspan(kHeaderSize, header->length - kHeaderSize);
    if (!send(answer_(client_, *header, body))) return false;
    at += header->length;
  }
  received_.erase(0, at);
  return true;
}

bool Session::peer_is_gone() const {
  pollfd polled{socket_.get(), POLLRDHUP, 0};
  return (::poll(&polled, 1, 0) > 0 && (polled.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) ||
         (options_.is_over && options_.is_over());
}

}  // namespace jtrace::debug
