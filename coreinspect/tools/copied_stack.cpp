#include "coreinspect/tools/copied_stack.h"

#include "base/clock.h"
#include "coreinspect/unwind/stack_walkers.h"
#include "target/buffer_memory.h"

namespace jtrace::coreinspect {

namespace {

// A walk may stop in a library that was loaded in the meantime. Then the mappings are read again, but not more
// often than this.
constexpr std::uint64_t kMappingsAgain = kNanosPerSecond / 20;

}  // namespace

class CopiedStackWalker::Impl {
 public:
  Impl(Inspection& inspection, const CodeCache& code) : inspection_(inspection), code_(code) { find_libraries(); }

  Walk walk(const target::Registers& registers, Address start, std::vector<std::byte> bytes) {
    const std::size_t size = bytes.size();
    refresh();
    inspection_.vm().cached_memory()->overlay(start, std::move(bytes));
    return walk_over(registers, start, size);
  }

  void refresh() {
    inspection_.vm().cached_memory()->reset();
    code_.forget();
  }
  Walk walk_next(const target::Registers& registers, Address start, std::span<const std::byte> bytes) {
    const target::BufferMemory copy(start, bytes);
    CachedMemory& memory = *inspection_.vm().cached_memory();
    memory.set_layer(&copy);
    Walk walk = walk_over(registers, start, bytes.size());
    memory.set_layer(nullptr);
    return walk;
  }

 private:
  Walk walk_over(const target::Registers& registers, Address start, std::size_t size) {
    // Only the thread's stack is of that moment. The VM's anchor is of now, so it is not used.
    JavaThread thread;
    thread.stack_base = start + size;
    thread.stack_size = size;
    Walk walk = walkers_->mixed().walk(thread, registers);
    if (!walk.incomplete() || walk.beyond || !read_libraries_again()) return walk;
    return walkers_->mixed().walk(thread, registers);
  }
  void find_libraries() { walkers_.emplace(inspection_.methods(), inspection_.objects(), code_); }
  bool read_libraries_again() {
    if (monotonic_ns() < next_) return false;
    next_ = monotonic_ns() + kMappingsAgain;
    const std::size_t before = inspection_.target().mappings().size();
    if (!inspection_.read_mappings_again() || inspection_.target().mappings().size() == before) return false;
    find_libraries();
    return true;
  }

  Inspection& inspection_;
  const CodeCache& code_;
  std::optional<StackWalkers> walkers_;
  std::uint64_t next_ = 0;
};

CopiedStackWalker::CopiedStackWalker(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CopiedStackWalker::~CopiedStackWalker() = default;

Result<std::unique_ptr<CopiedStackWalker>> CopiedStackWalker::open(Inspection& inspection) {
  JTRACE_ASSIGN_OR_RETURN(const CodeCache* code, inspection.code());
  return std::unique_ptr<CopiedStackWalker>(new CopiedStackWalker(std::make_unique<Impl>(inspection, *code)));
}

Walk CopiedStackWalker::walk(const target::Registers& registers, Address start, std::vector<std::byte> bytes) {
  return impl_->walk(registers, start, std::move(bytes));
}

void CopiedStackWalker::refresh() { impl_->refresh(); }
Walk CopiedStackWalker::walk_next(const target::Registers& registers, Address start, std::span<const std::byte> bytes) {
  return impl_->walk_next(registers, start, bytes);
}

}  // namespace jtrace::coreinspect
