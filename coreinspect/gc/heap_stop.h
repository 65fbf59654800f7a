// HeapStop: a live JVM, stopped outside of any collection, so that its objects are complete and references lead to
// them.
//
// The VM thread executes the collections that stop the JVM. It is stopped first, outside of a collection, so that no
// collection can begin; then the other threads. If a collection is running, HeapStop waits for its end, at most
// kLongestWait, while all threads run. During the stop the calling thread, and threads that it starts, have a higher
// priority if the system allows it, because the target is stopped while they wait for a processor. So use a thread of
// its own for the stop. Ownership: borrows the inspection. Threads: one, as StoppedThreads. Errors: those of
// StoppedThreads; kTimeout if there was always a collection running.
#pragma once

#include <optional>
#include <vector>

#include "coreinspect/model/inspection.h"
#include "target/first_in_line.h"
#include "target/stop_threads.h"

namespace jtrace::coreinspect {

class HeapStop {
 public:
  static constexpr std::chrono::milliseconds kLongestWait{5000};

  HeapStop(HeapStop&& other) noexcept = default;
  HeapStop& operator=(HeapStop&&) = delete;
  ~HeapStop() { release(); }
  static Result<HeapStop> make(const Inspection& inspection, std::chrono::milliseconds max_stop);

  std::chrono::nanoseconds time_left() const;  // of max_stop; negative after its end
  std::vector<target::ThreadRegisters> threads() const;
  std::vector<target::HeldThread> held() const;  // stopped by another tracer
  // Returns what StoppedThreads::release() does.
  std::chrono::nanoseconds release();
  // How often a running collection delayed the stop.
  int collections() const { return collections_; }

 private:
  HeapStop() = default;
  Result<> stop_rest(const target::Process& process, std::chrono::milliseconds max_stop);

  std::vector<target::StoppedThreads> groups_;
  std::optional<target::FirstInLine> first_in_line_;
  int collections_ = 0;
};

}  // namespace jtrace::coreinspect
