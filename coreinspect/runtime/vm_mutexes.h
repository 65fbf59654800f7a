// The VM's own locks (Threads_lock, Heap_lock, Compile_lock, ...): their names and owners, read without stopping it.
//
// Monitor, Mutex, PlatformMonitor (mutex.hpp, monitor.hpp of JDK 8 and 11, mutex_posix.hpp), whose layouts no table
// has:
//   8, 11     lock word, Thread* owner, list of waiters, the next owner, ..., the name as an array in the object
//   13..27    Thread* owner, pthread_mutex_t at +8, pthread_cond_t at +48, at +96 the name: at first as an array, later
//             a char*
// They are found through vmStructs (25 and later), otherwise by the words of libjvm's data: what has a name in one of
// these places that a lock of the VM has, and an owner that is a thread. Locks that the VM makes while it runs (of
// class loaders) are not among them. Reads the target's memory without a cache. Threads: one at a time.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct VmMutex {
  target::Address address = 0;
  std::string name;
  target::Address owner = 0;                   // Thread*; 0: none
  std::array<target::Address, 3> events = {};  // JDK 8 and 11: ParkEvents of the first threads in its lists; 0: none
};

class VmMutexes {
 public:
  static VmMutexes find(const Vm& vm);

  // "vmStructs", "structure"; "" if none was found.
  std::string_view found_by() const { return found_by_; }
  // All of them as they are now.
  std::vector<VmMutex> read() const;
  // What a thread that sleeps at this futex word does with which of them: waits for the lock, or for a notification.
  // JDK 8 and 11: threads sleep at words of their own, so only the first ones in a lock's list are known.
  enum class Sleep { kElsewhere, kForLock, kForNotification };
  Sleep sleep_at(const VmMutex& mutex, target::Address word) const;

 private:
  explicit VmMutexes(const Vm& vm) : vm_(&vm) {}
  bool find_in_tables();
  void find_by_structure();
  bool has_name(target::Address mutex, std::string& name) const;
  bool is_thread_or_null(target::Address word) const;

  const Vm* vm_;
  std::string_view found_by_;
  std::vector<std::pair<target::Address, std::string>> mutexes_;  // by address
  std::uint64_t owner_at_ = 0, name_at_ = 0;
  bool name_inside_ = false;  // the name is in the object, not a pointer to it
  bool has_events_ = false;   // made of ParkEvents, not of a pthread_mutex_t
};

// Whether the VM names its locks like this: "Threads_lock", "ProfileVMLock", "SATB_Q_CBL_mon".
bool is_vm_mutex_name(std::string_view name);

}  // namespace jtrace::coreinspect
