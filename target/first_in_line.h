// FirstInLine: while it lives the calling thread, and threads that it starts, have the highest priority, if the system
// allows it (CAP_SYS_NICE): a target that is stopped stands still while they wait for a processor.
//
// On Linux the priority belongs to the thread. Create and destroy it in one thread; one within another changes nothing.
#pragma once

#include <optional>
#include <utility>

namespace jtrace::target {

class FirstInLine {
 public:
  FirstInLine();
  FirstInLine(FirstInLine&& other) noexcept : before_(std::exchange(other.before_, std::nullopt)) {}
  FirstInLine& operator=(FirstInLine&&) = delete;
  ~FirstInLine();
  bool was_raised() const { return before_.has_value(); }

 private:
  std::optional<int> before_;  // the former priority; nothing: it was not raised
};

}  // namespace jtrace::target
