// TopFrames: the innermost Java frame that most samples of a thread had. Pure; one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

namespace jtrace::sampling {

struct TopFrame {
  std::string name;                         // "" if no sample had one
  std::uint32_t samples = 0, of_frame = 0;  // of the thread; those that had the frame
};

class TopFrames {
 public:
  // `frame`: "" for a sample without a Java frame.
  void add(pid_t tid, const std::string& frame) { ++frames_[tid][frame]; }
  void clear() { frames_.clear(); }
  TopFrame of(pid_t tid) const {
    TopFrame top;
    const auto found = frames_.find(tid);
    if (found == frames_.end()) return top;
    for (const auto& [frame, count] : found->second) {
      top.samples += count;
      if (frame.empty() || count <= top.of_frame) continue;
      top.name = frame;
      top.of_frame = count;
    }
    return top;
  }

 private:
  std::map<pid_t, std::map<std::string, std::uint32_t>> frames_;
};

}  // namespace jtrace::sampling
