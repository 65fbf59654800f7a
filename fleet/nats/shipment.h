// Shipping: an input (a file, standard input) becomes batches in a spool, and a Sender publishes what is in the spool.
// The two run in threads of their own: the network never holds up the input. A file waits for room in the spool;
// of standard input, whose writer must not be held up, what finds no room is lost, counted and named.
//
// Shipping the same file again gives the same stream and the same batches: what was sent is not sent twice, and what
// comes twice is known to the collector by its number.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "fleet/nats/broker.h"
#include "fleet/nats/sender.h"
#include "fleet/spool_writer.h"

namespace jtrace::fleet {

// An acknowledgement of JetStream means its machine's memory: its disk has it within two minutes (sync_interval of
// nats-server). So long, and some more, the spool keeps what was acknowledged.
inline constexpr std::uint64_t kKeepSent = 180'000'000'000;  // ns

struct ShipOptions {
  BrokerOptions broker;
  std::string spools;  // the folder of all spools
  SpoolLimits limits;
  std::uint64_t give_up = 30'000'000'000;       // ns
  std::string producer;                         // "jtrace 0.1.0"
  std::function<unsigned()> stops;              // how often it was asked to stop; called from both threads
  std::function<void(const std::string&)> say;  // from both threads
};

struct ShipSummary {
  SendSummary sent;
  std::uint64_t batches = 0, elements = 0;            // of the input
  std::uint64_t lost_batches = 0, lost_elements = 0;  // that found no room
  std::uint64_t damaged_bytes = 0;                    // of the spool
  bool is_truncated = false;                          // the input
  std::string stream;
  std::string spool;  // where what was not sent lies; "": all was sent
};

// `input`: a file that jtrace reads, or "-". The summary is valid also after an error.
Result<> ship_input(const std::string& input, const ShipOptions& options, ShipSummary& summary);
// What a sender that died, or gave up, has left in this folder; of one that ended well, what it still keeps.
Result<> ship_spool(const std::string& folder, const ShipOptions& options, ShipSummary& summary);
// Removes the spools below this folder that were sent whole, kKeepSent ago.
void remove_sent_spools(const std::string& spools);

}  // namespace jtrace::fleet
