// Sender: publishes what is in a spool, until it is acknowledged. Each message has an id, so that repeats are stored
// once; at most kWindow are on their way. What is not answered is published again; after each reconnection all that the
// spool keeps, because a server that lost its power may have lost what it had acknowledged.
//
// One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "fleet/nats/broker.h"
#include "fleet/spool_reader.h"

namespace jtrace::fleet {

struct SendOptions {
  std::uint64_t give_up = 30'000'000'000;       // ns without an acknowledgement once the input has ended
  std::function<bool()> should_stop;            // end at once; what is left stays in the spool
  std::function<bool()> has_input_ended;        // nothing more comes into the spool
  std::function<void(const std::string&)> say;  // a line about what does not work, at most one a minute of each
};
struct SendSummary {
  std::uint64_t sent = 0;     // messages, repeats included
  std::uint64_t stored = 0;   // batches
  std::uint64_t repeats = 0;  // published again
  std::uint64_t known = 0;    // that the server had already
  std::uint64_t left = 0;     // batches that are not acknowledged
};

class Sender {
 public:
  static constexpr std::size_t kWindow = 64;

  // Both are borrowed.
  Sender(Broker& broker, SpoolReader& spool, SendOptions options);
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  // kPermission: the server forbids it; kTimeout: gave up; summary() is valid in each case.
  Result<> run();
  const SendSummary& summary() const { return summary_; }

 private:
  struct InFlight {
    std::uint64_t since = 0;  // monotonic
  };
  Result<> subscribe();
  Result<> step(std::uint64_t now);
  Result<> fill_window(std::uint64_t now);
  Result<bool> publish(std::uint64_t batch, std::uint64_t now);
  bool take_reply(int timeout_ms);
  void repeat_unanswered(std::uint64_t now);
  void on_problem(const std::string& problem, std::uint64_t now);

  Broker& broker_;
  SpoolReader& spool_;
  SendOptions options_;
  natsSubscription* replies_ = nullptr;
  std::string inbox_;
  std::map<std::uint64_t, InFlight> in_flight_;
  unsigned reconnects_ = 0;
  std::uint64_t progress_ = 0, saved_ = 0;       // monotonic
  std::uint64_t wait_until_ = 0, back_off_ = 0;  // after a problem
  std::map<std::string, std::uint64_t> said_;
  std::string problem_;  // the last one
  SendSummary summary_;
};

}  // namespace jtrace::fleet
