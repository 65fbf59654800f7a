// Collector: takes the batches of a stream by a durable consumer into a Collection, and acknowledges what is on the
// disk. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/collection.h"
#include "fleet/nats/broker.h"

namespace jtrace::fleet {

struct CollectOptions {
  std::string stream = "JTRACE";          // JetStream's
  std::string name = "collector";         // of the durable consumer: its progress
  std::vector<std::uint32_t> partitions;  // empty: all
  bool take_over = false;                 // from another folder
  std::uint64_t until_idle = 0;           // ns without a message; 0: for ever
  std::uint64_t duration = 0;             // ns; 0: for ever
  std::function<bool()> should_stop;
  std::function<void(const std::string&)> say;
};

struct StreamOptions {
  std::string stream = "JTRACE";
  std::uint64_t max_bytes = 0;  // 0: no limit but the server's
  std::uint64_t max_age = 0;    // ns; 0: none
  std::uint32_t replicas = 1;
};
// Makes the stream where there is none: file storage, new messages are refused when it is full (the senders' spools
// hold them). False: it is there already.
Result<bool> create_stream(Broker& broker, const StreamOptions& options);

// Until it is asked to stop. kNotFound: there is no such stream. kRefused: another folder collects under this name.
Result<> collect(Broker& broker, Collection& collection, const CollectOptions& options);

}  // namespace jtrace::fleet
