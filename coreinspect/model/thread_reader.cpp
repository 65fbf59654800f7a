#include "coreinspect/model/thread_reader.h"

#include <thread>

namespace jtrace::coreinspect {
namespace {

constexpr int kTries = 4;  // of a thread that cannot be read although no collection runs

// The cached memory may be older than the reference that leads to the object.
bool is_whole(const JavaThread& thread) {
  return thread.problem.empty() && thread.object != 0 && thread.id != 0 && !thread.name.empty();
}

}  // namespace

CollectionWait::Outcome CollectionWait::wait() {
  constexpr std::chrono::milliseconds kPause{1};
  for (Outcome outcome = Outcome::kNoneRan; left_.count() > 0; left_ -= kPause) {
    switch (look_()) {
      case CollectionWatch::Sight::kNone: return outcome;
      case CollectionWatch::Sight::kEnded: left_ -= kPause; return Outcome::kEnded;
      case CollectionWatch::Sight::kRuns: outcome = Outcome::kEnded; std::this_thread::sleep_for(kPause);
    }
  }
  return Outcome::kStillRuns;
}

ThreadReader::ThreadReader(const Inspection& inspection)
    : inspection_(inspection), wait_([this] { return watch_->look(); }) {
  if (inspection.target().process() != nullptr) watch_.emplace(inspection);
}

JavaThread ThreadReader::read(Address thread) {
  for (int tries = 1;;) {
    JavaThread read = !watch_ || watch_->moves_meanwhile() ? read_java_thread(inspection_.objects(), thread)
                                                           : read_java_thread_once(inspection_.objects(), thread);
    if (!watch_) return read;
    switch (wait_.wait()) {
      case CollectionWait::Outcome::kStillRuns: in_collection_ = true; return read;
      case CollectionWait::Outcome::kEnded: continue;
      // The thread may have ended, or may have been starting.
      case CollectionWait::Outcome::kNoneRan:
        if (is_whole(read) || tries++ == kTries) return read;
        inspection_.vm().cached_memory()->forget();
    }
  }
}

}  // namespace jtrace::coreinspect
