// ThreadIndex: the threads of a snapshot as JDWP lists them: java.lang.Thread objects with their Java frames, and
// their groups.
//
// Without the threads that a JVM hides from its debuggers (compilers and the like), and without those that have no
// java.lang.Thread. Virtual threads have frames, and are not listed. Frame ids: the thread's place and the depth.
// Borrows the inspection, owns the snapshot. Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coreinspect/tools/lock_facts.h"
#include "debug/protocol.h"

namespace jtrace::debug {

using target::Address;

struct DebugThread {
  Address object = 0;
  Address key = 0;  // LockFacts::Party::key: of a platform thread its JavaThread
  pid_t native_id = 0;
  std::int64_t id = 0;  // java.lang.Thread's own, which no other thread ever has; 0: it could not be read
  std::string name;
  Address group = 0;
  std::uint32_t status = 0;  // of JDWP: 0 zombie, 1 running, 2 sleeping, 3 wants a monitor, 4 waits
  bool is_virtual = false;
  std::vector<const coreinspect::Frame*> frames;  // innermost first
};

class ThreadIndex {
 public:
  ThreadIndex(const coreinspect::Inspection& inspection, coreinspect::ThreadSnapshot snapshot);
  ThreadIndex(const ThreadIndex&) = delete;
  ThreadIndex& operator=(const ThreadIndex&) = delete;

  const std::vector<DebugThread>& all() const { return threads_; }  // platform threads first
  const DebugThread* find(Address object) const;
  // The one to show first: the one that crashed if it has Java frames, else main, else the first with frames.
  const DebugThread* first_to_show() const;

  struct Group {
    Address object = 0, parent = 0;
    std::string name;
    std::vector<Address> groups;  // its children
  };
  const std::map<Address, Group>& groups() const { return groups_; }
  std::vector<Address> top_groups() const;
  // What is not a thread of the snapshot but a ThreadGroup in the heap is read now.
  const Group& group(Address object);

  Id frame_id(const DebugThread& thread, std::size_t depth) const;
  // Nothing for what is not a frame of this thread.
  std::optional<std::size_t> depth_of(const DebugThread& thread, Id frame) const;

  const coreinspect::LockFacts& locks();  // made when first asked for
  // The monitors it holds, innermost frame first, with the depth of the frame. Not the one that it waits on.
  using Owned = std::vector<std::pair<Address, std::size_t>>;
  Owned owned(const DebugThread& thread);
  const coreinspect::ThreadSnapshot& snapshot() const { return snapshot_; }
  // A collection has moved objects: reads where those of the platform threads that have not ended, and of their groups,
  // are now. Others are 0, until a later call finds them: where a collection runs again, a thread may not be readable.
  void follow_objects();
  // Its group and those above it. A thread that has not ended stays in its group, and a group where it is.
  std::vector<Address> groups_of(const DebugThread& thread);
  // A status of JDWP from java.lang.Thread's threadStatus.
  static std::uint32_t status_of(std::uint32_t thread_status);

 private:
  void add(const coreinspect::ThreadReport& report);
  void add(const coreinspect::VirtualThread& thread);
  Address group_of(Address thread) const;
  void index_objects();
  Address group_of_virtual_threads() const;
  bool carries(Address thread) const;

  const coreinspect::Inspection& inspection_;
  coreinspect::ThreadSnapshot snapshot_;
  std::vector<DebugThread> threads_;
  std::map<Address, std::size_t> by_object_;
  std::map<Address, Group> groups_;
  std::optional<coreinspect::LockFacts> locks_;
  Address crashed_ = 0, group_of_virtual_threads_ = 0;
};

}  // namespace jtrace::debug
