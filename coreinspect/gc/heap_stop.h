// HeapStop: a live JVM, stopped outside of any collection: its objects are whole and references lead to them.
//
// Collections that stop the JVM are carried out by its VM thread. That thread is stopped first,
// outside of a collection, so that none can begin; then the others. A running collection is waited
// for, at most kLongestWait, while all threads run. During the stop the calling thread, and threads
// that it starts, get a higher priority where the system allows it, since the target stands while they
// wait for a processor: use a thread made for the stop. Ownership: borrows the inspection. One thread,
// as StoppedThreads. Errors: those of StoppedThreads; kTimeout where collections never left a moment.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "coreinspect/model/inspection.h"
#include "target/stop_threads.h"

namespace jtrace::coreinspect {

class HeapStop {
 public:
  static constexpr std::chrono::milliseconds kLongestWait{5000};

  HeapStop(HeapStop&& other) noexcept
      : groups_(std::move(other.groups_)),
        priority_(std::exchange(other.priority_, std::nullopt)),
        collections_(other.collections_) {}
  HeapStop& operator=(HeapStop&&) = delete;
  ~HeapStop() { release(); }
  static Result<HeapStop> make(const Inspection& inspection, std::chrono::milliseconds max_stop);

  std::chrono::nanoseconds time_left() const;  // of max_stop; negative when over
  std::vector<target::ThreadRegisters> threads() const;
  std::vector<target::HeldThread> held() const;  // another tracer has them
  // What StoppedThreads::release() says.
  std::chrono::nanoseconds release();
  // How often a collection was running.
  int collections() const { return collections_; }

 private:
  HeapStop() = default;
  Result<> stop_rest(const target::Process& process, std::chrono::milliseconds max_stop);

  std::vector<target::StoppedThreads> groups_;
  std::optional<int> priority_;  // as it was
  int collections_ = 0;
};

}  // namespace jtrace::coreinspect
