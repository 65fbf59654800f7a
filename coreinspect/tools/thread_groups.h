// ThreadGroups: groups threads with equal frames: how many, which, in which state, what they wait for, the frames,
// which locks these hold, and which carriers and virtual threads belong together. Pure. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "coreinspect/tools/lock_facts.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

// What a thread is called among others. Virtual threads rarely have a name.
struct ThreadLabel {
  std::string name;
  std::int64_t id = 0;       // of the java.lang.Thread; 0: none, or not known
  std::string text() const;  // "main" with its quotes, or #45
  bool operator==(const ThreadLabel&) const = default;
};

// 12 "GC Thread#*", "VM Thread": names that differ only in numbers once, with how many there are; in the order in which
// they came. Those without a name are one family: 3000 without a name (#45, #46, ...).
std::vector<std::string> name_families(const std::vector<ThreadLabel>& threads);

// What is borrowed lives as long as the groups.
struct GroupMember {
  ThreadLabel thread;
  std::string_view state;
  std::vector<std::string> frames;  // those that are shown, as text without locks: these are compared
  std::vector<std::size_t> places;  // where they are in the walk
  std::string end;                  // lines after the frames; compared too
  const Walk* walk = nullptr;       // its locks are those that the frames hold
  const Wait* wait = nullptr;       // null: it waits for nothing that is known
  std::string note;                 // "carried by "carrier-1" #30"; "": none
};

class ThreadGroups {
 public:
  using ClassOf = std::function<std::string(Address lock)>;
  explicit ThreadGroups(ClassOf class_of) : class_of_(std::move(class_of)) {}
  void add(GroupMember member);
  // The largest groups first; equal groups in the order in which they came.
  std::string text() const;
  // One object for each group; `write_frames` writes the array of a member's frames, `write_wait` the members of a
  // wait.
  void write(JsonWriter& json, const std::function<void(JsonWriter&, const GroupMember&)>& write_frames,
             const std::function<void(JsonWriter&, const Wait&)>& write_wait) const;

 private:
  struct Waiting {
    const Wait* wait;
    std::size_t count;
  };
  struct Held {  // of a frame and a class
    std::size_t threads = 0;
    std::set<Address> objects;
    bool all_same = true;  // each of the threads has all of the objects
  };
  using Key = std::pair<std::size_t, std::string>;  // the index among the frames that are shown, the class
  struct Group {
    GroupMember first;
    std::vector<ThreadLabel> threads;
    std::vector<std::string> notes;
    std::vector<Waiting> waits;  // in the order in which they came
    std::map<Key, Held> locks;
    void add(const Wait& wait);
    bool has_frames() const;
    std::string waits_text() const;
    std::string notes_text() const;
    std::string names_text() const;
    std::string locks_text(std::size_t frame, const std::set<Address>& wanted) const;
  };
  void add_locks(Group& group, const GroupMember& member) const;
  std::set<Address> wanted_monitors() const;  // those that a thread of any group waits to lock
  std::vector<const Group*> by_size() const;

  ClassOf class_of_;
  std::vector<Group> groups_;
};

}  // namespace jtrace::coreinspect
