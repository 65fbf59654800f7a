// ObjectSequences: the sequenceCounter of each object: 0 at its allocation, one more for each entry and exit of a call
// on it and for its end. For an object from before the trace it begins at the object's first event.
//
// An object may be freed while calls on it are open (compiled code keeps `this` no longer than it needs it). Its end is
// held back until the last of them has ended, so that no exit refers to an object that has ended. One thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/record/event_record.h"

namespace jtrace::session {

class ObjectSequences {
 public:
  // A call on the object begins, or ends: the counter of that event.
  std::uint64_t enter(std::uint64_t object) {
    Object& found = objects_[object];
    ++found.open;
    return ++found.counter;
  }
  std::uint64_t leave(std::uint64_t object) {
    const std::uint64_t counter = ++objects_[object].counter;
    abandon(object);
    return counter;
  }
  // A call on the object ends and has no event.
  void abandon(std::uint64_t object) {
    Object& found = objects_[object];
    if (found.open > 0) --found.open;
    if (found.open == 0 && found.is_over) due_.push_back(object);
  }
  // Whether the object's end is to wait for calls on it.
  bool holds_end(std::uint64_t object) {
    const auto found = objects_.find(object);
    if (found == objects_.end() || found->second.open == 0) return false;
    found->second.is_over = true;
    return true;
  }
  // The object's end: the counter of that event.
  std::uint64_t end(std::uint64_t object) {
    const auto found = objects_.find(object);
    if (found == objects_.end()) return 1;
    const std::uint64_t counter = found->second.counter + 1;
    objects_.erase(found);
    return counter;
  }
  // Whether there are objects whose held end may be written now.
  bool has_due() const { return !due_.empty(); }
  std::vector<std::uint64_t> take_due() { return std::exchange(due_, {}); }

 private:
  struct Object {
    std::uint64_t counter = 0;
    std::uint32_t open = 0;  // calls
    bool is_over = false;
  };
  std::unordered_map<std::uint64_t, Object> objects_;
  std::vector<std::uint64_t> due_;
};

}  // namespace jtrace::session
