// ProcessLooks: which processes of the machine are looked at for a new JVM. A process becomes a JVM when it replaces
// its program, and can be read when its VM is up: each is looked at some times, and again when it has another program.
// Pure; one thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

namespace jtrace::sampling {

class ProcessLooks {
 public:
  static constexpr int kMost = 10;  // at one program

  // Asked for all processes, round after round. `program`: whatever changes when a process replaces its program.
  bool is_due(pid_t pid, const std::string& program) {
    auto look = looks_.find(pid);
    if (look == looks_.end()) look = looks_.emplace(pid, Look{.program = program}).first;
    Look& at = look->second;
    at.seen = true;
    if (!at.done && at.program != program) at = Look{.program = program, .seen = true};
    return !at.done && at.count++ < kMost;
  }
  // It needs no more looks.
  void done(pid_t pid) {
    looks_[pid].done = true;
    looks_[pid].seen = true;
  }
  // Its failure has been reported.
  void reported(pid_t pid) { looks_[pid].reported = true; }
  // Whether this was the last look, so that its failure is final, and it has not been reported.
  bool needs_report(pid_t pid) const {
    const auto look = looks_.find(pid);
    return look != looks_.end() && look->second.count >= kMost && !look->second.reported;
  }
  // Forgets processes that were not asked for in this round: they are gone.
  void end_round() {
    std::erase_if(looks_, [](const auto& look) { return !look.second.seen; });
    for (auto& [pid, look] : looks_) look.seen = false;
  }

 private:
  struct Look {
    std::string program;
    int count = 0;
    bool done = false, reported = false, seen = false;
  };
  std::map<pid_t, Look> looks_;
};

}  // namespace jtrace::sampling
