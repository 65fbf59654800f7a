// Safepoint: the VM's own state of its safepoints at this moment, read without stopping it.
//
// SafepointSynchronize, SafepointTracing, RuntimeService (safepoint.hpp, runtimeService.hpp) by symbol. JDK 8 without
// symbols: os::_polling_page of vmStructs cannot be read from while a safepoint is begun, until it ends; whether all
// threads have stopped is then taken from their states. Threads: one at a time. Errors: kNotFound where this JVM does
// not record its state.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "coreinspect/runtime/vm_operation.h"

namespace jtrace::coreinspect {

enum class SafepointState { kNone, kSynchronizing, kSynchronized };
std::string_view to_string(SafepointState state);  // "not synchronized", "synchronizing", "synchronized"

// One look. The parts are read one after another, so that they may be of different moments.
struct SafepointLook {
  SafepointState state = SafepointState::kNone;
  std::optional<std::uint64_t> number;     // two looks with the same number and state are at the same safepoint
  std::optional<std::uint64_t> begin_ns;   // of the safepoint, on the target's CLOCK_MONOTONIC
  std::optional<int> waiting;              // threads that have not stopped
  std::map<target::Address, int> threads;  // JavaThread -> JavaThreadState
};

// A thread in this state delays a safepoint: in Java, in the VM, or changing between states. A thread that is blocked
// or in native code does not.
bool holds_up_safepoint(int vm_state);

class SafepointReader {
 public:
  static Result<SafepointReader> find(const Vm& vm, const VmSymbols& symbols);
  Result<SafepointLook> look() const;
  // "SafepointSynchronize::_state (symbol)".
  std::string_view found_by() const;
  // The source of begin_ns; "" if this JVM does not have it.
  std::string_view begin_found_by() const;

 private:
  explicit SafepointReader(const Vm& vm) : vm_(&vm) {}
  Result<bool> polling_page_is_armed() const;
  template <class T>
  std::optional<T> value(const std::optional<target::Address>& at) const;

  const Vm* vm_;
  std::optional<target::Address> state_, counter_, waiting_, begin_, timer_, timer_zero_, polling_page_;
};

}  // namespace jtrace::coreinspect
