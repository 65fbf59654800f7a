// ShippedOutput: --ship, a document that is sent while it is written. What the command writes to standard output goes
// to `jtrace-fleet ship -`, a process of its own that spools what it cannot send and never makes the writer wait for
// the server. If this process is killed, it sends what it has and ends. One thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace jtrace::cli {

// Adds --ship URL.
CLI::Option* add_ship_option(CLI::App& command, std::string& url);
// kUsage: -o, or another option that names a file, and --ship.
Error ships_instead_of_output(const std::string& option = "-o");

class ShippedOutput {
 public:
  // Nothing if `url` is empty. Otherwise standard output is the sender's from now on, and SIGPIPE is ignored. Call it
  // before threads are started. kNotFound: there is no jtrace-fleet; kSystem.
  static Result<std::unique_ptr<ShippedOutput>> start(const std::string& url);
  ~ShippedOutput();
  ShippedOutput(const ShippedOutput&) = delete;
  ShippedOutput& operator=(const ShippedOutput&) = delete;

  // The document has been written: waits until it is sent, or the sender gives up and leaves the rest in its spool;
  // SIGINT, SIGTERM or SIGHUP make it give up at once. The worse of its status and `written`.
  ExitStatus finish(ExitStatus written);
  // There is no document, or not all of it: ends the sender, which leaves what it has in its spool. Returns `failed`.
  ExitStatus abandon(ExitStatus failed);

 private:
  explicit ShippedOutput(pid_t sender) : sender_(sender) {}
  void close_output();
  void stop_sender();
  ExitStatus wait_for_sender();

  pid_t sender_;  // 0: it has ended
};

// finish() and abandon() of what start() gave.
ExitStatus finish_shipping(const std::unique_ptr<ShippedOutput>& shipped, ExitStatus written);
ExitStatus abandon_shipping(const std::unique_ptr<ShippedOutput>& shipped, ExitStatus failed);

}  // namespace jtrace::cli
