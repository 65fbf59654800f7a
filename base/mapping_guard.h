// MappingGuard: another process may truncate a file that is mapped; the SIGBUS of the next access to a missing page
// would end the program. While a guard exists for a mapping, a page of zeros replaces such a page, and was_cut()
// returns true.
//
// A signal handler has no parameters, so the guarded ranges are kept in a process-wide list. The handler is installed
// with the first guard; every other SIGBUS keeps its previous action. Ownership: owns its entry in that list, not the
// mapping, which must outlive it; movable. Threads: any; several may read the mapping.
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

  // True after the first access to a missing page.
  bool was_cut() const;

 private:
  GuardedRange* range_ = nullptr;
};

}  // namespace jtrace
