#include "coreinspect/model/thread_reader.h"

#include <thread>

namespace jtrace::coreinspect {
namespace {

constexpr int kTries = 4;  // of a thread that cannot be read although no collection runs

}  // namespace

CollectionWait::Outcome CollectionWait::wait() {
  constexpr std::chrono::milliseconds kPause{1};
  Outcome outcome = Outcome::kNoneRan;
  for (; left_.count() > 0 && collects_now_(); left_ -= kPause, outcome = Outcome::kEnded)
    std::this_thread::sleep_for(kPause);
  return left_.count() > 0 ? outcome : Outcome::kStillRuns;
}

ThreadReader::ThreadReader(const Inspection& inspection)
    : inspection_(inspection), wait_([&inspection] { return inspection.collects_now(); }) {}

JavaThread ThreadReader::read(Address thread) {
  for (int tries = 1;;) {
    JavaThread read = read_java_thread(inspection_.objects(), thread);
    if (inspection_.target().process() == nullptr) return read;
    switch (wait_.wait()) {
      case CollectionWait::Outcome::kStillRuns: in_collection_ = true; return read;
      case CollectionWait::Outcome::kEnded: continue;
      // One that began and ended in between may be why something could not be read; so may the end of the thread.
      case CollectionWait::Outcome::kNoneRan:
        if (read.problem.empty() || tries++ == kTries) return read;
    }
  }
}

}  // namespace jtrace::coreinspect
