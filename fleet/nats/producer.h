// Producer: the thread that reads an input into a spool. start() and join() are called from one thread.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "base/result.h"
#include "fleet/batcher.h"
#include "fleet/spool_writer.h"

namespace jtrace::fleet {

struct ProducerOptions {
  std::string input;  // a file, or "-"
  std::string stream, producer;
  bool waits_for_room = false;
  std::function<bool()> should_end;  // standard input: stop reading once nothing comes
  std::function<void(const std::string&)> say;
};

class Producer {
 public:
  Producer(ProducerOptions options, SpoolWriter& spool) : options_(std::move(options)), spool_(spool) {}
  ~Producer() { join(); }

  void start();
  // It ends soon, whatever is left of the input.
  void stop() { stopped_ = true; }
  void join();
  bool has_ended() const { return ended_; }

  // After join().
  const Result<>& result() const { return result_; }
  std::uint64_t batches() const { return batches_; }
  std::uint64_t elements() const { return elements_; }
  std::uint64_t lost_batches() const { return lost_batches_; }
  std::uint64_t lost_elements() const { return lost_elements_; }
  bool is_truncated() const { return is_truncated_; }

 private:
  Result<> produce();
  Result<bool> keep(const BatchHeader& header, const std::string& bytes);

  ProducerOptions options_;
  SpoolWriter& spool_;
  std::thread thread_;
  std::atomic<bool> stopped_{false}, ended_{false};
  Result<> result_;
  std::uint64_t batches_ = 0, elements_ = 0, lost_batches_ = 0, lost_elements_ = 0;
  std::uint64_t synced_ = 0;  // monotonic
  bool is_truncated_ = false, said_full_ = false;
};

// The name of the stream of a file: the same for the same content, read through its compression.
Result<std::string> stream_of_file(const std::string& path);

}  // namespace jtrace::fleet
