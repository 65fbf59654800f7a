// TopFrames: the innermost Java frame that most samples of a thread had. TopCarried: which virtual threads it ran.
// Pure; one thread.
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

class TopCarried {
 public:
  struct Carried {
    std::int64_t id = 0;  // 0: none that is known, or none that had more than half of its samples
    std::string name;
    std::size_t threads = 0;  // how many it ran
  };
  // `id`: of the java.lang.Thread that ran; 0: not known.
  void add(pid_t tid, std::int64_t id, const std::string& name) {
    Seen& seen = seen_[tid][id];
    ++seen.samples;
    seen.name = name;
  }
  void clear() { seen_.clear(); }
  // `own`: the id of the carrier itself.
  Carried of(pid_t tid, std::int64_t own) const {
    Carried carried;
    const auto found = seen_.find(tid);
    if (found == seen_.end()) return carried;
    std::uint32_t all = 0;
    for (const auto& [id, seen] : found->second) all += seen.samples;
    for (const auto& [id, seen] : found->second) {
      if (id == own || id == 0) continue;
      ++carried.threads;
      if (seen.samples * 2 > all) carried.id = id, carried.name = seen.name;
    }
    return carried;
  }

 private:
  struct Seen {
    std::uint32_t samples = 0;
    std::string name;
  };
  std::map<pid_t, std::map<std::int64_t, Seen>> seen_;
};

}  // namespace jtrace::sampling
