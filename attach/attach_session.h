// AttachSession: sends commands to one running HotSpot JVM through its Dynamic Attach listener, JDK 8 to 27.
//
//   auto process = target::Process::open(pid);
//   auto session = attach::AttachSession::open(*process);
//   auto reply = session->execute({.operation = "jcmd", .arguments = {"VM.version"}});
//
// Safe for the target: it checks before it signals (attach/preflight.h), removes the files that it makes, reads replies
// at full speed and, if the JVM can do so, has them made outside of safepoints (attach/protocol.h,
// wants_buffered_reply). Safe for the caller: no setns, no chroot, no change of the process's ids (only of the calling
// thread's, while it connects), no signal handlers, every wait is bounded. Several threads may use a session at once:
// the JVM serves one command at a time. Borrows the Process, which must outlive it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "attach/exchange.h"
#include "attach/protocol.h"
#include "attach/rendezvous.h"
#include "base/result.h"
#include "target/process.h"

namespace jtrace::attach {

struct AttachOptions {
  std::chrono::milliseconds start_timeout{10'000};  // from open() to the JVM's listener standing
  std::chrono::milliseconds reply_timeout{60'000};  // from open() until the JVM's listener exists
  int cancel_fd = -1;                    // if it becomes readable, every wait ends with "interrupted" (kRefused)
  std::size_t memory_limit = 64u << 20;  // bytes of a reply kept in memory; the rest goes to an unlinked file
};

class AttachSession {
 public:
  // Checks the JVM, and starts its listener if it does not exist: trigger file, SIGQUIT, socket file. Errors:
  // kNotAttachable, kPermission, kNotFound as preflight(); kTimeout with the visible cause.
  static Result<AttachSession> open(const target::Process& process, const AttachOptions& options = {});

  // Sends the request and reads the whole reply. A code other than 0 is not an error here: see check_reply(). Errors:
  // kUsage (the words do not fit this JVM's protocol: nothing was sent), kTimeout, kRefused (closed without a byte,
  // code 101), kPermission (an impostor), kMalformed (not an attach listener).
  Result<Reply> execute(const Request& request) const;

  // Sends the request and returns at once, for a caller that watches other descriptors meanwhile: poll Exchange::fd()
  // for POLLIN, call advance() until it returns true, then take(). There is no time limit after the request was sent.
  Result<Exchange> begin(const Request& request) const;
  // Waits for the reply to a request of begin(), up to the reply timeout from now on. Errors: as execute().
  Result<Reply> finish(Exchange exchange, const Request& request) const;

  // The protocol that the JVM understands; asked once. Threads: any.
  Result<ProtocolSupport> support() const;

  const target::Process& process() const { return rendezvous_->process(); }
  const AttachOptions& options() const { return options_; }
  // Must not be called while other threads use the session.
  void set_reply_timeout(std::chrono::milliseconds timeout) { options_.reply_timeout = timeout; }

 private:
  AttachSession() = default;

  Result<> start_listener(const Waiter& waiter) const;
  Result<> finish_start(std::chrono::milliseconds waited) const;
  Result<UniqueFd> connect(const Waiter& waiter) const;
  Result<Exchange> begin_until(Request request, const Waiter& waiter) const;
  Result<Reply> execute_until(const Request& request, const Waiter& waiter) const;
  Result<Reply> finish_until(Exchange exchange, const Request& request, const Waiter& waiter) const;
  Result<> ask_support(const Waiter& waiter) const;
  Result<> check_empty_arguments(const Request& request) const;
  Waiter waiter(std::chrono::milliseconds time) const;

  AttachOptions options_;
  std::shared_ptr<const Rendezvous> rendezvous_;
  std::shared_ptr<const UniqueFd> socket_;  // the socket's file as it was when the session was opened
  // 0: not asked; otherwise the version, and 0x100 for the streaming option.
  std::shared_ptr<std::atomic<int>> support_ = std::make_shared<std::atomic<int>>(0);
};

// Converts a reply to a result: an Error (kRefused, with the JVM's text) if its code is not 0, if its text reports a
// failure with code 0, or if it was cut off (kPartial); for `load` kAgent, with the reason in the form of each JDK.
Result<> check_reply(const Request& request, const Reply& reply);

}  // namespace jtrace::attach
