// HeapStop: a live JVM stands still, and not within a collection: its objects are whole and where they are said to be.
//
// Collections that stop the JVM are carried out by its VM thread. While none goes on that thread is stopped first: then
// none can begin, and the others follow. A collection that goes on is waited for, while all run, for as long as
// kLongestWait. Whoever makes the stop comes first while it lasts, where the system allows that, with the threads it
// starts meanwhile, so it had better be a thread made for the stop: what it waits for a processor the target stands.
// Ownership: borrows the inspection. One thread, as StoppedThreads. Errors: those of StoppedThreads; kTimeout where
// collections never left a moment.
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
  // How often a collection was in the way.
  int collections() const { return collections_; }

 private:
  HeapStop() = default;
  Result<> stop_rest(const target::Process& process, std::chrono::milliseconds max_stop);

  std::vector<target::StoppedThreads> groups_;
  std::optional<int> priority_;  // as it was
  int collections_ = 0;
};

}  // namespace jtrace::coreinspect
