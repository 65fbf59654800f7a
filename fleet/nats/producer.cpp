#include "fleet/nats/producer.h"

#include <poll.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "trace/io/ended_source.h"
#include "trace/io/open_source.h"

namespace jtrace::fleet {
namespace {

namespace io = trace::io;

constexpr std::uint64_t kOldest = kNanosPerSecond;  // of an open batch of standard input
constexpr int kPoll = 200;                          // ms
constexpr int kQuiet = 5000 / kPoll;                // polls in which nothing comes: the writer will not end it
constexpr useconds_t kRoomWait = 20'000;
// Part of a stream's name: another way of making batches makes other batches.
constexpr const char* kMaking = "jtrace.ship 1 ";

// Standard input; `meanwhile` is called at least every kPoll ms. If `should_end`, it ends as soon as nothing has come
// for a while: the same Ctrl-C makes the writer of a pipe end its document, which may take a moment. If `must_end`, at
// once.
class InputSource final : public io::ByteSource {
 public:
  InputSource(std::function<Result<>()> meanwhile, std::function<bool()> should_end, std::function<bool()> must_end)
      : meanwhile_(std::move(meanwhile)), should_end_(std::move(should_end)), must_end_(std::move(must_end)) {}
  Result<std::size_t> read(char* out, std::size_t size) override {
    for (int quiet = 0;;) {
      JTRACE_RETURN_IF_ERROR(meanwhile_());
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int ready = ::poll(&input, 1, kPoll);
      if (ready == 0 && (must_end_() || (should_end_() && ++quiet >= kQuiet))) return 0;
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      const ssize_t count = ::read(STDIN_FILENO, out, size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return fail(system_error("cannot read", "standard input"));
      consumed_ += static_cast<std::uint64_t>(count);
      return static_cast<std::size_t>(count);
    }
  }
  std::uint64_t consumed() const override { return consumed_; }

 private:
  std::function<Result<>()> meanwhile_;
  std::function<bool()> should_end_, must_end_;
  std::uint64_t consumed_ = 0;
};

}  // namespace

Result<std::string> stream_of_file(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const auto source, io::open_byte_source(path));
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<char> bytes(1u << 18);
  std::uint64_t size = 0;
  for (;;) {
    JTRACE_ASSIGN_OR_RETURN(const std::size_t count, source->read(bytes.data(), bytes.size()));
    if (count == 0) break;
    XXH3_128bits_update(state.get(), bytes.data(), count);
    size += count;
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return name_based_uuid(kMaking + std::to_string(size) + " " + std::to_string(hash.high64) + " " +
                         std::to_string(hash.low64));
}

void Producer::start() {
  thread_ = std::thread([this] {
    result_ = produce();
    if (Result<> synced = spool_.sync(); result_ && !synced) result_ = std::move(synced);
    ended_ = true;
  });
}

void Producer::join() {
  if (thread_.joinable()) thread_.join();
}

Result<bool> Producer::keep(const BatchHeader& header, const std::string& bytes) {
  if (header.batch <= spool_.last_batch()) return true;  // of an earlier try at the same file
  for (;;) {
    JTRACE_ASSIGN_OR_RETURN(const bool taken, spool_.append(header.batch, bytes));
    if (taken) break;
    if (!options_.waits_for_room) {
      if (!std::exchange(said_full_, true)) options_.say("the spool is full: batches are lost until there is room");
      return false;
    }
    if (stopped_) return fail(ErrorCategory::kPartial, "stopped");
    ::usleep(kRoomWait);
  }
  said_full_ = false;
  if (const std::uint64_t now = monotonic_ns(); now - synced_ >= kNanosPerSecond) {
    synced_ = now;
    JTRACE_RETURN_IF_ERROR(spool_.sync());
  }
  if (stopped_) return fail(ErrorCategory::kPartial, "stopped");
  return true;
}

Result<> Producer::produce() {
  Batcher batcher({.stream = options_.stream, .producer = options_.producer},
                  [this](const BatchHeader& header, const std::string& bytes) { return keep(header, bytes); });
  io::FaultLog faults({.print = options_.say});
  std::unique_ptr<io::EventSource> source;
  if (options_.input == "-") {
    auto bytes = std::make_unique<InputSource>([&] { return batcher.close_if_older(kOldest); }, options_.should_end,
                                               [this] { return stopped_.load(); });
    JTRACE_ASSIGN_OR_RETURN(source, io::make_event_source(std::move(bytes), "standard input", faults));
  } else {
    JTRACE_ASSIGN_OR_RETURN(source, io::open_event_source(options_.input, faults));
  }
  const auto read = io::watch_for_the_end(std::move(source))->read(batcher);
  if (!read && batcher.elements() == 0) return fail(read.error());
  if (!read || read->truncated) batcher.note_cut();
  // What was read before the fault is shipped as well.
  const Result<> finished = stopped_ ? Result<>() : batcher.finish();
  batches_ = batcher.batches();
  elements_ = batcher.elements();
  lost_batches_ = batcher.lost_batches();
  lost_elements_ = batcher.lost_elements();
  if (!read) return fail(read.error());
  is_truncated_ = read->truncated;
  return finished;
}

}  // namespace jtrace::fleet
