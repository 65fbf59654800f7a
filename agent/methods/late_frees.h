// LateFrees: frees of objects, with --slower-than. The entry of a call is written when the call has turned out to be
// slow. No reference is held, so its receiver or arguments may have been freed by then. So the objFree of an object
// waits until no open call refers to it (open_calls.h): the document names only objects that it contains.
//
// Threads: add() in JVM TI's ObjectFree, the rest anywhere.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <vector>

#include "agent/methods/open_calls.h"

namespace jtrace::agent {

class LateFrees {
 public:
  LateFrees() { pthread_mutex_init(&lock_, nullptr); }
  LateFrees(const LateFrees&) = delete;
  LateFrees& operator=(const LateFrees&) = delete;
  ~LateFrees() { pthread_mutex_destroy(&lock_); }

  void add(std::uint64_t object);
  // The frees that were present at the previous call already and that no open call refers to: to be written now. (A
  // thread that was about to keep the id of such an object has done so by then.)
  std::vector<std::uint64_t> take_due(const OpenCalls& calls);
  // All of them.
  std::vector<std::uint64_t> take_all();

 private:
  pthread_mutex_t lock_;                // held for a few instructions: the JVM may be at a safepoint in add()
  std::vector<std::uint64_t> fresh_;    // added since take_due()
  std::vector<std::uint64_t> waiting_;  // added before it
};

}  // namespace jtrace::agent
