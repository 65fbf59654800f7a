// `hsperf serve` while a test asks it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/testlib/background_command.h"

namespace jtrace::test {

// The answer's head and body; "" where no process listens.
std::string http_get(std::uint16_t port, const std::string& path, const std::string& accept = "");

std::string body_of(const std::string& answer);

class Server {
 public:
  static Result<std::unique_ptr<Server>> start(const std::vector<std::string>& words = {});
  std::string metrics(const std::string& accept = "") const;
  std::uint16_t port() const { return port_; }
  BackgroundCommand& command() { return *command_; }

 private:
  Server() = default;
  std::unique_ptr<BackgroundCommand> command_;
  std::uint16_t port_ = 0;
};

}  // namespace jtrace::test
