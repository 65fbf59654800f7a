// LateFrees: ends of objects, with --slower-than. The entry of a call is written once the call has turned out
// to be slow. No reference is held, so by then its receiver or arguments may have been freed. So the end of an
// object waits until no open call refers to it (open_calls.h): the document names only objects that it has.
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
  // The ends that were there at the last call already and that no open call refers to: to be
  // written now. (A thread that was about to keep the id of an ending object has done so by then.)
  std::vector<std::uint64_t> take_due(const OpenCalls& calls);
  // All of them.
  std::vector<std::uint64_t> take_all();

 private:
  pthread_mutex_t lock_;                // held for a few instructions: the JVM may stand still in add()
  std::vector<std::uint64_t> fresh_;    // have come since take_due()
  std::vector<std::uint64_t> waiting_;  // before it
};

}  // namespace jtrace::agent
