#include "agent/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace jtrace::agent {

bool Wakeup::open() {
  event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return static_cast<bool>(event_);
}

void Wakeup::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(event_.get(), &one, sizeof one);
}

void Wakeup::clear() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t ignored = read(event_.get(), &count, sizeof count);
}

}  // namespace jtrace::agent
