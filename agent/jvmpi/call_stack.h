// CallStack: the numbers of the methods that a thread is in, as far as their METHOD_ENTRY was sent. It finds
// constructors that an exception of their super constructor left: bytecode cannot see that, so their exit is found when
// a caller exits (agent/classfile/code_callouts.cpp, plan_handlers). One thread.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace jtrace::agent::jvmpi {

class CallStack {
 public:
  CallStack() = default;
  CallStack(const CallStack&) = delete;
  CallStack& operator=(const CallStack&) = delete;
  ~CallStack() { std::free(calls_); }

  // `open_start`: the call is a constructor whose super constructor has not returned.
  void push(std::uint32_t number, bool open_start) {
    if (size_ == room_) grow();
    calls_[size_++] = number << 1 | (open_start ? 1u : 0u);
  }
  // Ends the call of `number`. First calls lost(number) for each constructor above it that an exception left, innermost
  // first. If the call is missing or not on top, the other calls stay: a carrier may change its virtual thread in the
  // middle of calls.
  template <class Lost>
  void pop(std::uint32_t number, Lost&& lost) {
    std::size_t at = size_;
    while (at > 0 && calls_[at - 1] >> 1 != number && (calls_[at - 1] & 1) != 0) --at;
    if (at == 0 || calls_[at - 1] >> 1 != number) return;
    for (; size_ > at; --size_) lost(calls_[size_ - 1] >> 1);
    --size_;
  }
  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }

 private:
  // With so many, the calls that virtual threads left on their carrier are discarded.
  static constexpr std::size_t kMost = 65536;

  void grow() {
    if (room_ >= kMost) {
      size_ = 0;
      return;
    }
    room_ = room_ == 0 ? 256 : room_ * 2;
    calls_ = static_cast<std::uint32_t*>(std::realloc(calls_, room_ * sizeof *calls_));
    if (calls_ == nullptr) std::abort();
  }

  std::uint32_t* calls_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace jtrace::agent::jvmpi
