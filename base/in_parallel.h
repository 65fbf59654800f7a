// InParallel: runs several jobs that mostly wait, some at a time, so that a JVM that does not answer does not delay the
// others. Threads: one thread constructs it and takes the results.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace jtrace {

// Calls job(0) .. job(count - 1), in that order, on up to kAtOnce threads. The destructor waits for all.
template <class T>
class InParallel {
 public:
  static constexpr std::size_t kAtOnce = 16;  // each job waits nearly all of its time

  InParallel(std::size_t count, std::function<T(std::size_t)> job) : job_(std::move(job)), results_(count) {
    for (std::size_t i = 0; i < std::min(kAtOnce, count); ++i) threads_.emplace_back([this] { work(); });
  }
  InParallel(const InParallel&) = delete;
  InParallel& operator=(const InParallel&) = delete;
  ~InParallel() {
    for (std::thread& thread : threads_) thread.join();
  }

  // Waits for job(index) and returns its result. Call it once for each index.
  T wait(std::size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return results_[index].has_value(); });
    T result = std::move(*results_[index]);
    results_[index].reset();
    return result;
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < results_.size(); i = next_++) {
      T result = job_(i);
      const std::lock_guard lock(mutex_);
      results_[i] = std::move(result);
      changed_.notify_all();
    }
  }

  std::function<T(std::size_t)> job_;
  std::vector<std::optional<T>> results_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
};

}  // namespace jtrace
