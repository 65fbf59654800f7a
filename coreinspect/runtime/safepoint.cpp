#include "coreinspect/runtime/safepoint.h"

#include <algorithm>

#include "coreinspect/runtime/java_threads.h"

namespace jtrace::coreinspect {

using target::Address;

std::string_view to_string(SafepointState state) {
  switch (state) {
    case SafepointState::kNone: return "not synchronized";
    case SafepointState::kSynchronizing: return "synchronizing";
    case SafepointState::kSynchronized: return "synchronized";
  }
  return "";
}

bool holds_up_safepoint(int vm_state) {
  constexpr int kInNative = 4, kBlocked = 10;  // JavaThreadState (globalDefinitions.hpp); 0 to 11
  return vm_state >= 2 && vm_state <= 11 && vm_state != kInNative && vm_state != kBlocked;
}

Result<SafepointReader> SafepointReader::find(const Vm& vm, const VmSymbols& symbols) {
  SafepointReader reader(vm);
  reader.state_ = symbols.address("_ZN20SafepointSynchronize6_stateE");
  reader.counter_ = symbols.address("_ZN20SafepointSynchronize18_safepoint_counterE");
  reader.waiting_ = symbols.address("_ZN20SafepointSynchronize17_waiting_to_blockE");
  reader.begin_ = symbols.address("_ZN16SafepointTracing29_last_safepoint_begin_time_nsE");
  reader.timer_ = symbols.address("_ZN14RuntimeService16_safepoint_timerE");
  reader.timer_zero_ = symbols.address("_ZL18initial_time_count");
  if (!reader.state_ && vm.feature() < 9) reader.polling_page_ = vm.types().variable("os", "_polling_page");
  if (reader.state_ || reader.polling_page_) return reader;
  return fail(ErrorCategory::kNotFound,
              "the state of safepoints: libjvm.so has no symbol SafepointSynchronize::_state, and no file with its "
              "symbols is installed");
}

std::string_view SafepointReader::found_by() const {
  return state_ ? "symbol SafepointSynchronize::_state" : "protection of os::_polling_page, states of the threads";
}

std::string_view SafepointReader::begin_found_by() const {
  if (begin_) return "symbol SafepointTracing::_last_safepoint_begin_time_ns";
  return timer_ && timer_zero_ ? "symbol RuntimeService::_safepoint_timer" : "";
}

template <class T>
std::optional<T> SafepointReader::value(const std::optional<Address>& at) const {
  if (!at) return std::nullopt;
  const auto read = vm_->target().memory().read<T>(*at);
  return read ? std::optional(*read) : std::nullopt;
}

Result<bool> SafepointReader::polling_page_is_armed() const {
  const target::Target& target = vm_->target();
  JTRACE_ASSIGN_OR_RETURN(const Address page, target.memory().read<Address>(*polling_page_));
  std::vector<target::Mapping> now;
  if (target.process()) {
    JTRACE_ASSIGN_OR_RETURN(now, target.process()->maps());
  }
  const target::Mapping* mapping = target::find_mapping(target.process() ? now : target.mappings(), page);
  if (!mapping) return fail(malformed("the polling page is not mapped", page));
  return !mapping->readable;
}

Result<SafepointLook> SafepointReader::look() const {
  SafepointLook look;
  bool armed = false;
  if (polling_page_) {
    JTRACE_ASSIGN_OR_RETURN(armed, polling_page_is_armed());
  } else {
    JTRACE_ASSIGN_OR_RETURN(const auto state, vm_->target().memory().read<std::int32_t>(*state_));
    if (state < 0 || state > 2) return fail(malformed("impossible state of safepoints", *state_));
    look.state = static_cast<SafepointState>(state);
  }
  look.waiting = value<std::int32_t>(waiting_);
  // 32 bits up to JDK 11; the lower half is enough to distinguish two.
  if (const auto number = value<std::uint32_t>(counter_)) look.number = *number;
  if (begin_) {
    look.begin_ns = value<std::uint64_t>(begin_);
  } else if (const auto ticks = value<std::uint64_t>(timer_), zero = value<std::uint64_t>(timer_zero_); ticks && zero) {
    look.begin_ns = *zero + *ticks;  // os::elapsed_counter() is in ns since then
  }
  if (CachedMemory* live = vm_->cached_memory()) live->forget();
  JTRACE_ASSIGN_OR_RETURN(const auto threads, java_thread_addresses(*vm_));
  for (const Address thread : threads)
    if (const auto state = vm_->read_field<std::int32_t>(thread, "JavaThread", "_thread_state"))
      look.threads[thread] = *state;
  if (armed)
    look.state = std::any_of(look.threads.begin(), look.threads.end(),
                             [](const auto& each) { return holds_up_safepoint(each.second); })
                     ? SafepointState::kSynchronizing
                     : SafepointState::kSynchronized;
  return look;
}

}  // namespace jtrace::coreinspect
