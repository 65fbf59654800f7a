// ThreadReader: read_java_thread() for all threads of one answer, with patience.
//
// A full collection slides objects over others while it stops the program: in those milliseconds a name in a live
// target may be half overwritten. A thread of which something could not be read is read again after it.
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
  // Waits for the end of the collection that is running. True where reading again may help.
  bool wait();

 private:
  std::function<bool()> collects_now_;
  std::chrono::milliseconds left_ = kLongest;
};

// Borrows the inspection. Threads: one at a time.
class ThreadReader {
 public:
  explicit ThreadReader(const Inspection& inspection);
  JavaThread read(Address thread);

 private:
  const Inspection& inspection_;
  CollectionWait wait_;
};

}  // namespace jtrace::coreinspect
