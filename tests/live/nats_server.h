// NatsServer: a nats-server with JetStream on a free port of loopback, in a folder of the test; killed with the object.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/testlib/background_command.h"
#include "tests/testlib/scratch_dir.h"

namespace jtrace::test {

class NatsServer {
 public:
  // `configuration`: more lines of its configuration file.
  explicit NatsServer(std::string configuration = {});
  static bool is_installed();

  void start();
  void kill();  // SIGKILL
  std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }
  // Sends lines of the NATS protocol as an unknown client would.
  void send(const std::string& protocol) const;

 private:
  ScratchDir scratch_{"jtrace-nats"};
  int port_ = 0;
  std::unique_ptr<BackgroundCommand> server_;
};

}  // namespace jtrace::test
