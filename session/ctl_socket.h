// The socket by which `jtrace ctl` controls a running trace: in the user's runtime folder, mode 0600, named by pid and
// start ticks of the JVM. Its lock also prevents a second trace of the same JVM by the same user. What a jtrace that
// was killed has left there is removed by the next one, once its JVM has ended.
//
// A request is a verb and its arguments, one a line, up to the end of the stream; the reply is an exit status on a line
// of its own, then text. They are text only here; malformed requests are refused here too. Threads: one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "session/control_source.h"
#include "target/process.h"

namespace jtrace::session {

class CtlServer : public ControlSource {
 public:
  // kRefused if this JVM is traced already, by this user or by its own user. nullopt if there is no runtime folder: the
  // trace then runs without a socket.
  static Result<std::optional<CtlServer>> open_for(const target::Process& process);
  // kRefused if this user traces the JVM already; other errors: there is no runtime folder that can be trusted.
  static Result<CtlServer> open(pid_t pid, std::uint64_t start_ticks);
  CtlServer(CtlServer&& other) noexcept;
  CtlServer& operator=(CtlServer&&) = delete;
  ~CtlServer() override;

  void add_to(std::vector<pollfd>& descriptors) const override;
  std::vector<PendingRequest> receive() override;
  // Sends the reply and closes the client's connection.
  void answer(int client, const ControlAnswer& answer) override;

 private:
  struct Client {
    UniqueFd fd;
    std::string request;
    bool complete = false;  // its request was passed to the caller
  };
  static constexpr std::size_t kMaxClients = 16;
  static constexpr std::size_t kMaxRequest = 1u << 20;

  CtlServer() = default;
  Result<> lock();
  Result<> listen();
  void accept_clients();

  std::string path_;
  std::string lock_path_;
  UniqueFd lock_;
  UniqueFd listener_;
  std::vector<Client> clients_;
};

struct CtlReply {
  ExitStatus status;
  std::string text;
};
// Sends one request to the jtrace that traces the JVM. `uid`: the JVM's user, in whose folder its own jtrace would be.
// kRefused: it is not traced.
Result<CtlReply> ask_ctl(pid_t pid, std::uint64_t start_ticks, uid_t uid, const ControlRequest& request);
// The same with any text as the request.
Result<CtlReply> ask_ctl_text(pid_t pid, std::uint64_t start_ticks, uid_t uid, const std::string& lines);

// XDG_RUNTIME_DIR, /run/jtrace-UID (root), or /tmp/jtrace-UID: made with mode 0700 if it is missing, checked to belong
// to this user.
Result<std::string> runtime_folder();

}  // namespace jtrace::session
