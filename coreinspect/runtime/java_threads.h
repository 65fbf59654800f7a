// The JavaThreads of a VM: names, ids, states, where their Java frames start, and what they wait for.
//
// Threads, ThreadsSMRSupport, JavaThread, OSThread (thread.hpp, javaThread.hpp, osThread.hpp), java.lang.Thread.
// Threads: one at a time. If some facts of a thread cannot be read, the others are given; `problems` counts such
// threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coreinspect/oops/object_model.h"

namespace jtrace::coreinspect {

struct JavaThread {
  Address address = 0;
  Address object = 0;  // java.lang.Thread; 0 if none
  std::string name;
  std::int64_t id = 0;  // java.lang.Thread's own
  pid_t native_id = 0;  // in the innermost pid namespace of the process
  bool daemon = false;
  int priority = 0;
  std::uint32_t status = 0;                       // threadStatus (javaThreadStatus.hpp)
  int vm_state = 0;                               // JavaThreadState: 4 in native, 6 in VM, 8 in Java, 10 blocked
  Address last_sp = 0, last_pc = 0, last_fp = 0;  // of the anchor; sp 0: in Java, or no Java frames
  Address stack_base = 0;                         // the highest address of its stack
  std::uint64_t stack_size = 0;
  Address pending_monitor = 0, waiting_monitor = 0;  // ObjectMonitor
  Address continuation_entry = 0;
  Address monitor_owner_id = 0;
  std::string problem;  // what could not be read; "" if nothing

  std::string_view state() const;         // as in Thread.State: RUNNABLE, TIMED_WAITING, ...
  std::string_view state_detail() const;  // "sleeping", "parking", "on object monitor", or ""
  // Whether its C++ class returns true from is_hidden_from_external_view(): a thread of the VM itself, which the beans
  // do not show. Found by its name, because the tables do not have those classes.
  bool is_hidden() const;
  // The monitor that it waits to enter, also one that it has left in Object.wait and was notified to enter again: until
  // then the VM keeps it as the one that is waited for, and only the state is another. 0: none.
  Address entering_monitor() const;
  bool is_in_java() const { return (vm_state & ~1) == 8; }  // or about to leave it
  bool has_stack_address(Address at) const { return at < stack_base && stack_base - at <= stack_size; }
};

// Addresses of all JavaThreads, in the VM's order (the order of jstack).
Result<std::vector<Address>> java_thread_addresses(const Vm& vm);
// Of a live target until two readings agree: a collector may be moving the object.
JavaThread read_java_thread(const ObjectModel& objects, Address thread);
// One reading, for a caller that knows by itself whether a collection ran meanwhile (ThreadReader).
JavaThread read_java_thread_once(const ObjectModel& objects, Address thread);
// Name of the group of a java.lang.Thread; "" if none.
std::string thread_group_name(const ObjectModel& objects, Address object);
// The highest address of its stack.
Result<Address> java_stack_base(const Vm& vm, Address thread);
Result<std::uint64_t> java_stack_size(const Vm& vm, Address thread);
std::string_view vm_state_name(int state);
inline constexpr std::uint32_t kRunnableStatus = 0x5;  // JavaThreadStatus::RUNNABLE: alive and runnable

// Self-test of the hard-coded rules in this JVM: decodes the class and name of one thread's object.
Result<> self_test(const ObjectModel& objects, const std::vector<Address>& threads);

}  // namespace jtrace::coreinspect
