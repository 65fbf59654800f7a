// LineCollector: a thread of its own reads a descriptor to its end and keeps every byte; other threads wait for lines.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.h"

namespace jtrace::test {

class LineCollector {
 public:
  explicit LineCollector(UniqueFd fd);
  // Waits for the end of the descriptor: all its writers must be gone.
  ~LineCollector();
  LineCollector(const LineCollector&) = delete;
  LineCollector& operator=(const LineCollector&) = delete;

  // The next line not yet taken that starts with `prefix`; the lines before it are skipped. nullopt: time-out, or the
  // descriptor has ended. Any thread, one at a time.
  std::optional<std::string> wait_line(std::string_view prefix, std::chrono::milliseconds timeout);
  // Waits for the end of the descriptor, for a limited time (a grandchild may hold it open).
  void wait_end(std::chrono::milliseconds timeout);
  // Everything read so far.
  std::string text() const;
  bool ended() const;  // all writers of the descriptor are gone

 private:
  void read_all();
  std::optional<std::string> take_line(std::string_view prefix);

  UniqueFd fd_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  std::size_t taken_ = 0;  // lines before this offset were taken
  bool ended_ = false;
  std::thread reader_;  // last: it uses the other members
};

}  // namespace jtrace::test
