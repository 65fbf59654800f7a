// MetricsSender: sends batches of metrics to a server, from a thread of its own, in their order. What cannot be sent is
// kept, up to a limit, and tried again; beyond the limit the oldest batches are lost, which is said.
//
// Ownership: owns the thread. Threads: one calls add() and finish(); `say` is called from the sender's thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "perfdata/http_client.h"
#include "perfdata/push_outcome.h"

namespace jtrace::perfdata {

struct MetricsBatch {
  std::uint64_t taken = 0;  // ns since the epoch
  std::string body;
};

struct SendTotals {
  std::uint64_t sent = 0, lost = 0;           // batches
  std::int64_t rejected = 0;                  // points
  std::optional<ErrorCategory> failure = {};  // of the last try, if it failed
};

class MetricsSender {
 public:
  struct Options {
    HttpPost post;
    std::size_t most_kept = 16u << 20;  // bytes of batches that wait
    std::function<void(const std::string& line)> say;
  };
  explicit MetricsSender(Options options);
  ~MetricsSender();
  MetricsSender(const MetricsSender&) = delete;
  MetricsSender& operator=(const MetricsSender&) = delete;

  void add(MetricsBatch batch);
  // No more will come: what waits is sent or, after `patience`, lost.
  SendTotals finish(std::chrono::milliseconds patience);

 private:
  struct Gap {
    std::uint64_t count = 0, first = 0, last = 0;  // batches, times of them
  };
  void run();
  std::optional<MetricsBatch> next();
  // True if it was taken or is lost, false to try it again.
  bool try_once(const MetricsBatch& batch);
  void note_trouble(const std::string& reason, bool kept);
  void note_loss(const MetricsBatch& batch);
  void say_recovered();
  void say_gap();
  bool pause(std::chrono::milliseconds time);
  void say(const std::string& line) const { options_.say(line); }

  Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<MetricsBatch> waiting_;  // by mutex_, as all below
  std::size_t kept_ = 0;
  bool closed_ = false, hurried_ = false, abandoned_ = false, ended_ = false;
  SendTotals totals_;
  Gap gap_;  // lost since it was last said

  std::string trouble_;  // of the sender's thread: what was said of the last failure
  int failures_ = 0;
  std::uint64_t trouble_since_ = 0;  // CLOCK_MONOTONIC
  std::optional<std::chrono::seconds> wish_;
  UniqueFd abandon_;  // readable: waits no more
  std::thread thread_;
};

}  // namespace jtrace::perfdata
