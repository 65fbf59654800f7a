// EventOwners: for which thread each event was opened, and which records come twice: a thread that started when its
// parent had events already inherited those, and then got its own. Pure; one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>

namespace jtrace::sampling {

class EventOwners {
 public:
  enum class Kind { kTick, kSwitch };
  struct Origin {
    pid_t process = 0, thread = 0;  // that it was opened for; 0: a processor
    Kind kind = Kind::kTick;
  };

  // `event`: its id.
  void add(std::uint64_t event, const Origin& origin) { origin_of_[event] = origin; }
  void remove(std::uint64_t event) { origin_of_.erase(event); }
  // Null if it is not known.
  const Origin* find(std::uint64_t event) const {
    const auto found = origin_of_.find(event);
    return found == origin_of_.end() ? nullptr : &found->second;
  }

  // The thread has events of its own.
  void open(pid_t thread) { opened_.insert(thread), ended_.erase(thread); }
  void close(pid_t thread) { opened_.erase(thread); }
  bool has(pid_t thread) const { return opened_.contains(thread); }
  bool any() const { return !opened_.empty(); }

  // The record of its end was read. Older records of it may be in rings that are read later.
  void ended(pid_t thread) { ended_.insert(thread); }
  // All rings have been read: the numbers of those that ended may be other threads' soon.
  void drained() {
    for (const pid_t thread : ended_) opened_.erase(thread);
    ended_.clear();
  }

  // False for a record of an inherited event, if the thread has its own.
  bool is_wanted(std::uint64_t event, pid_t thread) const {
    const Origin* origin = find(event);
    return !origin || origin->thread == 0 || origin->thread == thread || !opened_.contains(thread);
  }

 private:
  std::map<std::uint64_t, Origin> origin_of_;
  std::set<pid_t> opened_, ended_;
};

}  // namespace jtrace::sampling
