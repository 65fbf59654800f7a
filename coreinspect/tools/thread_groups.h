// ThreadGroups: groups threads with equal stacks: how many, which, in which state, what they wait for, and the stack.
// Pure. One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "coreinspect/tools/lock_facts.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

class ThreadGroups {
 public:
  // `stack`: the frames as text, which are compared; `walk`: the frames; `wait`: null if it waits for nothing that is
  // known. Both are borrowed.
  void add(const std::string& name, std::string_view state, const std::string& stack, const Walk& walk,
           const Wait* wait);
  // The largest groups first; equal groups in the order in which they came.
  std::string text() const;
  // One object for each group; `write_frames` writes the array of a walk's frames, `write_wait` the members of a wait.
  void write(JsonWriter& json, const std::function<void(JsonWriter&, const Walk&)>& write_frames,
             const std::function<void(JsonWriter&, const Wait&)>& write_wait) const;

 private:
  struct Waiting {
    const Wait* wait;
    std::size_t count;
  };
  struct Group {
    std::string state, stack;
    const Walk* walk = nullptr;
    std::vector<std::string> names;
    std::vector<Waiting> waits;  // in the order in which they came
    void add(const Wait& wait);
    std::string waits_text() const;
    std::string names_text() const;
  };
  std::vector<const Group*> by_size() const;

  std::vector<Group> groups_;
};

}  // namespace jtrace::coreinspect
