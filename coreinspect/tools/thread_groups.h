// ThreadGroups: groups threads with equal stacks: how many, which, in which states, and the stack. Pure. One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

class ThreadGroups {
 public:
  // `stack`: the frames as text, which are compared; `walk`: the frames, borrowed.
  void add(const std::string& name, std::string_view state, const std::string& stack, const Walk& walk);
  // The largest groups first; equal groups in the order in which they came.
  std::string text() const;
  // One object for each group; `write_frames` writes the array of a walk's frames.
  void write(JsonWriter& json, const std::function<void(JsonWriter&, const Walk&)>& write_frames) const;

 private:
  struct Group {
    std::string state, stack;
    const Walk* walk = nullptr;
    std::vector<std::string> names;
  };
  std::vector<const Group*> by_size() const;

  std::vector<Group> groups_;
};

}  // namespace jtrace::coreinspect
