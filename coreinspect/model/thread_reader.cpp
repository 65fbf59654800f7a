#include "coreinspect/model/thread_reader.h"

#include <thread>

namespace jtrace::coreinspect {

bool CollectionWait::wait() {
  constexpr std::chrono::milliseconds kPause{1};
  for (; left_.count() > 0 && collects_now_(); left_ -= kPause) std::this_thread::sleep_for(kPause);
  return left_.count() > 0;
}

ThreadReader::ThreadReader(const Inspection& inspection)
    : inspection_(inspection), wait_([&inspection] { return inspection.collects_now(); }) {}

JavaThread ThreadReader::read(Address thread) {
  JavaThread read = read_java_thread(inspection_.objects(), thread);
  const bool is_live = inspection_.target().process() != nullptr;
  if (read.problem.empty() || !is_live || !wait_.wait()) return read;
  return read_java_thread(inspection_.objects(), thread);
}

}  // namespace jtrace::coreinspect
