#include "coreinspect/runtime/java_threads.h"

#include <algorithm>
#include <array>
#include <set>

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMaxThreads = 1u << 20;

// Sets `into` if the value can be read, otherwise records the first reason.
template <class T, class Into>
void take(Result<T> value, Into& into, std::string& problem) {
  if (value) into = static_cast<Into>(*value);
  else if (problem.empty()) problem = value.error().message();
}

Result<std::vector<Address>> from_smr_list(const Vm& vm) {
  JTRACE_ASSIGN_OR_RETURN(const Address list, vm.read_static<Address>("ThreadsSMRSupport", "_java_thread_list"));
  if (list == 0) return std::vector<Address>();
  JTRACE_ASSIGN_OR_RETURN(const auto length, vm.read_field<std::uint32_t>(list, "ThreadsList", "_length"));
  JTRACE_ASSIGN_OR_RETURN(const Address first, vm.read_pointer(list, "ThreadsList", "_threads"));
  if (length > kMaxThreads) return fail(ErrorCategory::kMalformed, "impossible number of threads");
  std::vector<Address> threads(length);
  JTRACE_RETURN_IF_ERROR(vm.memory().read_exactly(first, std::as_writable_bytes(std::span(threads))));
  return threads;
}

void read_anchor(const Vm& vm, JavaThread& thread) {
  const auto anchor = vm.types().offset("JavaThread", "_anchor");
  if (!anchor) return;
  const Address at = thread.address + *anchor;
  take(vm.read_pointer(at, "JavaFrameAnchor", "_last_Java_sp"), thread.last_sp, thread.problem);
  take(vm.read_pointer(at, "JavaFrameAnchor", "_last_Java_pc"), thread.last_pc, thread.problem);
  take(vm.read_pointer(at, "JavaFrameAnchor", "_last_Java_fp"), thread.last_fp, thread.problem);
}

// Fields moved from Thread to JavaThread and back: the first type that has the field counts.
template <class T>
Result<T> thread_field(const Vm& vm, Address thread, std::string_view name) {
  const auto offset = vm.types().offset({"JavaThread", "Thread"}, name);
  if (!offset) return fail(Vm::no_field("JavaThread", name));
  return vm.memory().read<T>(thread + *offset);
}

// From 19 on some fields of Thread are in Thread.holder (Thread$FieldHolder).
Address holder_of(const ObjectModel& objects, Address object) {
  const auto moved = objects.reference(object, "holder");
  return moved && *moved != 0 ? *moved : object;
}

void read_object(const ObjectModel& objects, JavaThread& thread) {
  take(objects.root_field(thread.address, "JavaThread", "_threadObj"), thread.object, thread.problem);
  if (thread.object == 0) return;
  take(objects.text_field(thread.object, "name"), thread.name, thread.problem);
  take(objects.value<std::int64_t>(thread.object, "tid"), thread.id, thread.problem);
  const Address holder = holder_of(objects, thread.object);
  take(objects.value<std::uint8_t>(holder, "daemon"), thread.daemon, thread.problem);
  take(objects.value<std::int32_t>(holder, "priority"), thread.priority, thread.problem);
  take(objects.value<std::uint32_t>(holder, "threadStatus"), thread.status, thread.problem);
}

}  // namespace

// JVMTI thread state bits (jvmti.h), of which threadStatus is made.
std::string_view JavaThread::state() const {
  if ((status & 0x4) != 0) return "RUNNABLE";
  if ((status & 0x400) != 0) return "BLOCKED";
  if ((status & 0x10) != 0) return "WAITING";
  if ((status & 0x20) != 0) return "TIMED_WAITING";
  if ((status & 0x2) != 0) return "TERMINATED";
  return "NEW";
}

std::string_view JavaThread::state_detail() const {
  if ((status & 0x40) != 0) return "sleeping";
  if ((status & 0x100) != 0) return "on object monitor";
  if ((status & 0x200) != 0) return "parking";
  if ((status & 0x400) != 0) return "on object monitor";
  return "";
}

bool JavaThread::is_hidden() const {
  if (name.find("CompilerThread") != name.npos) return true;
  constexpr std::array<std::string_view, 5> hidden = {"Sweeper thread", "Service Thread", "Monitor Deflation Thread",
                                                      "StringDedupProcessor",
                                                      "Surrogate Locker Thread (Concurrent GC)"};
  return std::find(hidden.begin(), hidden.end(), name) != hidden.end();
}

// ObjectMonitor::notify moves the waiter to those that want to enter, sets its status, and does not wake it.
Address JavaThread::entering_monitor() const {
  if (pending_monitor != 0) return pending_monitor;
  return state() == "BLOCKED" ? waiting_monitor : 0;
}

std::string_view vm_state_name(int state) {
  // globalDefinitions.hpp, JavaThreadState; odd values are transitions.
  switch (state & ~1) {
    case 2: return "new";
    case 4: return "in native";
    case 6: return "in VM";
    case 8: return "in Java";
    case 10: return "blocked";
    default: return "unknown";
  }
}

Result<std::vector<Address>> java_thread_addresses(const Vm& vm) {
  if (vm.types().has("ThreadsSMRSupport", "_java_thread_list")) return from_smr_list(vm);
  std::vector<Address> threads;
  std::set<Address> seen;
  JTRACE_ASSIGN_OR_RETURN(Address thread, vm.read_static<Address>("Threads", "_thread_list"));
  while (thread != 0 && threads.size() < kMaxThreads && seen.insert(thread).second) {
    threads.push_back(thread);
    JTRACE_ASSIGN_OR_RETURN(thread, vm.read_pointer(thread, "JavaThread", "_next"));
  }
  return threads;
}

std::string thread_group_name(const ObjectModel& objects, Address object) {
  const auto group = objects.reference(holder_of(objects, object), "group");
  return group && *group != 0 ? objects.text_field(*group, "name").value_or("") : "";
}

Result<Address> java_stack_base(const Vm& vm, Address thread) {
  return thread_field<Address>(vm, thread, "_stack_base");
}

Result<std::uint64_t> java_stack_size(const Vm& vm, Address thread) {
  return thread_field<std::uint64_t>(vm, thread, "_stack_size");
}

namespace {

constexpr int kTries = 6;

bool same_object(const JavaThread& one, const JavaThread& other) {
  return one.problem == other.problem && (one.object == 0) == (other.object == 0) && one.name == other.name &&
         one.id == other.id;
}

// The collector of a running JVM may be copying the object while it is read, and the cached memory may be older than
// the reference that leads to the copy: a field that is not yet copied is null. So two readings, each of fresh memory,
// must agree.
void read_object_that_may_move(const ObjectModel& objects, JavaThread& thread) {
  const JavaThread before = thread;
  CachedMemory* const live = objects.classes().vm().cached_memory();
  read_object(objects, thread);
  for (int i = 1; live != nullptr && i < kTries; ++i) {
    live->forget();
    JavaThread again = before;
    read_object(objects, again);
    const bool agree = same_object(again, thread);
    thread = std::move(again);
    if (agree && thread.problem == before.problem) return;
  }
}

// All but what the java.lang.Thread says.
JavaThread read_structure(const Vm& vm, Address address) {
  JavaThread thread;
  thread.address = address;
  Address os_thread = 0;
  take(thread_field<Address>(vm, address, "_osthread"), os_thread, thread.problem);
  if (os_thread != 0)
    take(vm.read_field<std::int32_t>(os_thread, "OSThread", "_thread_id"), thread.native_id, thread.problem);
  take(vm.read_field<std::int32_t>(address, "JavaThread", "_thread_state"), thread.vm_state, thread.problem);
  read_anchor(vm, thread);
  take(thread_field<Address>(vm, address, "_stack_base"), thread.stack_base, thread.problem);
  take(thread_field<std::uint64_t>(vm, address, "_stack_size"), thread.stack_size, thread.problem);
  take(thread_field<Address>(vm, address, "_current_pending_monitor"), thread.pending_monitor, thread.problem);
  take(thread_field<Address>(vm, address, "_current_waiting_monitor"), thread.waiting_monitor, thread.problem);
  thread.continuation_entry = thread_field<Address>(vm, address, "_cont_entry").value_or(0);
  thread.monitor_owner_id = thread_field<Address>(vm, address, "_monitor_owner_id").value_or(0);
  return thread;
}

}  // namespace

JavaThread read_java_thread(const ObjectModel& objects, Address address) {
  JavaThread thread = read_structure(objects.classes().vm(), address);
  read_object_that_may_move(objects, thread);
  return thread;
}

JavaThread read_java_thread_once(const ObjectModel& objects, Address address) {
  JavaThread thread = read_structure(objects.classes().vm(), address);
  read_object(objects, thread);
  return thread;
}

Result<> self_test(const ObjectModel& objects, const std::vector<Address>& threads) {
  const auto test = [&](Address thread) -> Result<> {
    JTRACE_ASSIGN_OR_RETURN(const Address object, objects.root_field(thread, "JavaThread", "_threadObj"));
    if (object == 0) return fail(ErrorCategory::kMalformed, "no object");
    JTRACE_ASSIGN_OR_RETURN(const Address klass, objects.klass_of(object));
    objects.classes().remember_class(klass);
    JTRACE_ASSIGN_OR_RETURN(const Address name, objects.reference(object, "name"));
    JTRACE_ASSIGN_OR_RETURN(const Address string, objects.klass_of(name));
    JTRACE_ASSIGN_OR_RETURN(const std::string found, objects.classes().internal_name(string));
    if (found != "java/lang/String") return fail(ErrorCategory::kMalformed, "Thread.name is a " + found);
    JTRACE_RETURN_IF_ERROR(objects.classes().find_field(string, "value"));
    return {};
  };
  if (threads.empty())
    return fail(ErrorCategory::kNotAttachable, "this JVM has no Java threads: it is not initialised, or ending");
  Result<> last = fail(ErrorCategory::kMalformed, "");
  for (Address thread : threads)
    if (last = test(thread); last) return {};
  return fail(last.error().with_context("the rules for reading objects do not fit this JVM"));
}

}  // namespace jtrace::coreinspect
