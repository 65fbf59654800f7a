// EndedJvms: JVMs that have ended, of which records are still to be taken: those of the waits that ended with them are
// younger than what a round takes. Pure; one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace jtrace::sampling {

class EndedJvms {
 public:
  // `now`: a time (CLOCK_MONOTONIC, ns) when it was seen that it had ended. The first one counts.
  void add(pid_t pid, std::uint64_t now) { ended_.try_emplace(pid, now); }

  // Those of which nothing is left to be taken, once what was stamped up to `until` is. Each is given once.
  std::vector<pid_t> taken(std::uint64_t until) {
    std::vector<pid_t> done;
    for (auto jvm = ended_.begin(); jvm != ended_.end();) {
      if (jvm->second > until) {
        ++jvm;
        continue;
      }
      done.push_back(jvm->first);
      jvm = ended_.erase(jvm);
    }
    return done;
  }

 private:
  std::map<pid_t, std::uint64_t> ended_;
};

}  // namespace jtrace::sampling
