// MappingGuard: a file that is mapped may be cut by somebody else; the SIGBUS of the next access to what is gone would
// end the program. While a guard stands for a mapping, such a page becomes one of zeros, and was_cut() says so.
//
// A signal handler can be given nothing, so the guarded ranges are kept process-wide. The handler is put in place with
// the first guard and leaves every other SIGBUS as it was. Ownership: owns its place in that list, not the mapping,
// which must outlive it; movable. Threads: any; the mapping may be read by several.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace jtrace {

struct GuardedRange;

class MappingGuard {
 public:
  MappingGuard() = default;  // guards nothing
  explicit MappingGuard(std::span<const std::byte> mapping);
  ~MappingGuard();
  MappingGuard(MappingGuard&& other) noexcept : range_(std::exchange(other.range_, nullptr)) {}
  MappingGuard& operator=(MappingGuard&& other) noexcept {
    std::swap(range_, other.range_);
    return *this;
  }

  // True from the first access on that met a missing page.
  bool was_cut() const;

 private:
  GuardedRange* range_ = nullptr;
};

}  // namespace jtrace
