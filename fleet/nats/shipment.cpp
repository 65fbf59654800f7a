#include "fleet/nats/shipment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/uuid.h"
#include "fleet/nats/producer.h"
#include "fleet/spool_reader.h"
#include "fleet/spool_records.h"

namespace jtrace::fleet {
namespace {

constexpr useconds_t kConnectPause = 500'000;

SendOptions send_options(const ShipOptions& options, std::function<bool()> should_stop,
                         std::function<bool()> has_input_ended) {
  return {.give_up = options.give_up,
          .should_stop = std::move(should_stop),
          .has_input_ended = std::move(has_input_ended),
          .say = options.say};
}

Result<> send(Broker& broker, SpoolReader& reader, SendOptions options, ShipSummary& summary) {
  Sender sender(broker, reader, std::move(options));
  const Result<> sent = sender.run();
  summary.sent = sender.summary();
  summary.damaged_bytes = reader.damaged_bytes();
  return sent;
}

// A shipment whose input is a stream: it connects as soon as there is a server, and spools meanwhile.
class Live {
 public:
  Live(const ShipOptions& options, Producer& producer, SpoolReader& reader, ShipSummary& summary)
      : options_(options), producer_(producer), reader_(reader), summary_(summary) {}

  Result<> run() {
    const auto broker = connect();
    Result<> sent =
        broker ? send(**broker, reader_,
                      send_options(
                          options_, [this] { return options_.stops() > 1; }, [this] { return producer_.has_ended(); }),
                      summary_)
               : Result<>(fail(broker.error()));
    if (!sent && !producer_.has_ended()) options_.say(sent.error().message() + "; what comes stays in the spool");
    if (options_.stops() > 1) producer_.stop();
    producer_.join();
    return sent;
  }

 private:
  Result<std::unique_ptr<Broker>> connect() {
    bool said = false;
    std::uint64_t ended = 0;
    for (;;) {
      Result<std::unique_ptr<Broker>> broker = Broker::connect(options_.broker);
      if (broker) return broker;
      const bool is_away = broker.error().category == ErrorCategory::kTimeout;
      if (producer_.has_ended() && ended == 0) ended = monotonic_ns();
      const bool gives_up = ended != 0 && monotonic_ns() - ended >= options_.give_up;
      if (!is_away || gives_up || options_.stops() > 1) return broker;
      if (!std::exchange(said, true)) options_.say(broker.error().message() + "; it is tried again");
      ::usleep(kConnectPause);
    }
  }

  const ShipOptions& options_;
  Producer& producer_;
  SpoolReader& reader_;
  ShipSummary& summary_;
};

Result<> ship_file(const ShipOptions& options, Producer& producer, SpoolReader& reader, ShipSummary& summary) {
  JTRACE_ASSIGN_OR_RETURN(const auto broker, Broker::connect(options.broker));
  producer.start();
  Result<> sent = send(*broker, reader,
                       send_options(
                           options, [&] { return options.stops() > 0; }, [&] { return producer.has_ended(); }),
                       summary);
  if (!sent || options.stops() > 0) producer.stop();
  producer.join();
  return sent;
}

}  // namespace

Result<> ship_input(const std::string& input, const ShipOptions& options, ShipSummary& summary) {
  const bool is_live = input == "-";
  summary.stream = random_uuid();
  if (!is_live) {
    JTRACE_ASSIGN_OR_RETURN(summary.stream, stream_of_file(input));
  }
  const std::string folder = options.spools + "/" + summary.stream;
  JTRACE_ASSIGN_OR_RETURN(SpoolWriter writer, SpoolWriter::open(folder, options.limits));
  JTRACE_ASSIGN_OR_RETURN(SpoolReader reader, SpoolReader::open(folder, is_live ? kKeepSent : 0));
  Producer producer({.input = input,
                     .stream = summary.stream,
                     .producer = options.producer,
                     .waits_for_room = !is_live,
                     .should_end = [&] { return options.stops() > 0; },
                     .say = options.say},
                    writer);
  Result<> sent;
  if (is_live) {
    producer.start();
    sent = Live(options, producer, reader, summary).run();
  } else {
    sent = ship_file(options, producer, reader, summary);
  }
  summary.batches = producer.batches();
  summary.elements = producer.elements();
  summary.lost_batches = producer.lost_batches();
  summary.lost_elements = producer.lost_elements();
  summary.is_truncated = producer.is_truncated();
  const Result<> polled = reader.poll();
  const bool all_sent = sent && polled && producer.has_ended() && reader.is_empty();
  // A file's own spool is of no use any more; nor is one in which nothing is.
  if ((all_sent && !is_live) || (reader.waiting() == 0 && reader.acknowledged() == 0)) reader.remove();
  else if (!all_sent) summary.spool = folder;
  summary.sent.left = reader.waiting();
  if (!sent) return sent;
  return polled ? producer.result() : polled;
}

Result<> ship_spool(const std::string& folder, const ShipOptions& options, ShipSummary& summary) {
  JTRACE_ASSIGN_OR_RETURN(SpoolReader reader, SpoolReader::open(folder, kKeepSent));
  summary.stream = reader.stream();
  if (reader.is_empty()) reader.resend_all();  // it was sent; whoever ships it again means it
  JTRACE_ASSIGN_OR_RETURN(const auto broker, Broker::connect(options.broker));
  const auto all = [] { return true; };
  Result<> sent = send(*broker, reader,
                       send_options(
                           options, [&] { return options.stops() > 0; }, all),
                       summary);
  summary.batches = summary.sent.stored + summary.sent.known;
  if (!reader.is_empty()) summary.spool = folder;
  return sent;
}

void remove_sent_spools(const std::string& spools) {
  for (const std::string& folder : spool_folders(spools)) {
    struct stat info {};
    const std::string state = folder + "/acked";
    if (::stat(state.c_str(), &info) != 0) continue;
    const std::uint64_t changed = static_cast<std::uint64_t>(info.st_mtime) * kNanosPerSecond;
    if (realtime_ns() < changed + kKeepSent) continue;
    const auto writer = lock_folder(folder, "writer.lock", "another writer");
    auto reader = SpoolReader::open(folder, kKeepSent);
    if (writer && reader && reader->is_empty() && reader->has_end()) reader->remove();
  }
}

}  // namespace jtrace::fleet
