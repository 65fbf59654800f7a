// ThreadReader: calls read_java_thread() for all threads of one answer, and waits for collections.
//
// A full collection moves objects over others while the program is stopped: during these milliseconds a name in a live
// target may be half overwritten, or a reference may already have the address to which its object will be moved. A
// thread that was read during a collection is read again after it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "coreinspect/model/collection_watch.h"
#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

// How long an answer may still wait for collections. Threads: one at a time.
class CollectionWait {
 public:
  static constexpr std::chrono::milliseconds kLongest{500};

  explicit CollectionWait(std::function<CollectionWatch::Sight()> look) : look_(std::move(look)) {}
  enum class Outcome {
    kNoneRan,
    kEnded,      // one ran since the last call, and has ended
    kStillRuns,  // one ran so long that this answer does not wait any more
  };
  // Waits for the end of the collection that is running.
  Outcome wait();

 private:
  std::function<CollectionWatch::Sight()> look_;
  std::chrono::milliseconds left_ = kLongest;
};

// Borrows the inspection. Not to be moved. Threads: one at a time.
class ThreadReader {
 public:
  explicit ThreadReader(const Inspection& inspection);
  ThreadReader(const ThreadReader&) = delete;
  ThreadReader& operator=(const ThreadReader&) = delete;
  JavaThread read(Address thread);
  // Whether a thread was read during a collection that did not end in time: its data may be wrong.
  bool read_in_collection() const { return in_collection_; }

 private:
  const Inspection& inspection_;
  std::optional<CollectionWatch> watch_;  // of a live target
  CollectionWait wait_;
  bool in_collection_ = false;
};

}  // namespace jtrace::coreinspect
