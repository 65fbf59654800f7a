// ThreadReader: read_java_thread() for all threads of one answer, with patience.
//
// A full collection slides objects over others while it stops the program: in those milliseconds a name in a live
// target may be half overwritten, or a reference may lead to where its object is not yet. A thread that was read during
// a collection is read again after it.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

// How long an answer still waits for collections, in all. Threads: one at a time.
class CollectionWait {
 public:
  static constexpr std::chrono::milliseconds kLongest{500};

  explicit CollectionWait(std::function<bool()> collects_now) : collects_now_(std::move(collects_now)) {}
  enum class Outcome {
    kNoneRan,
    kEnded,      // one ran, and has ended
    kStillRuns,  // or ran so long that this answer waits no more
  };
  // Waits for the end of the collection that is running.
  Outcome wait();

 private:
  std::function<bool()> collects_now_;
  std::chrono::milliseconds left_ = kLongest;
};

// Borrows the inspection. Threads: one at a time.
class ThreadReader {
 public:
  explicit ThreadReader(const Inspection& inspection);
  JavaThread read(Address thread);
  // Whether a thread was read in a collection that did not end in time: what was read of it may be wrong.
  bool read_in_collection() const { return in_collection_; }

 private:
  const Inspection& inspection_;
  CollectionWait wait_;
  bool in_collection_ = false;
};

}  // namespace jtrace::coreinspect
