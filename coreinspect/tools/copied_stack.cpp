#include "coreinspect/tools/copied_stack.h"

#include "base/clock.h"
#include "coreinspect/unwind/mixed_walker.h"

namespace jtrace::coreinspect {

namespace {

// A stack may break off in a library that was loaded in the meantime. Then the mappings are read again, but not more
// often than this.
constexpr std::uint64_t kMappingsAgain = kNanosPerSecond / 20;

}  // namespace

class CopiedStackWalker::Impl {
 public:
  Impl(Inspection& inspection, const CodeCache& code)
      : inspection_(inspection), code_(code), java_(inspection.methods(), inspection.objects(), code) {
    find_libraries();
  }

  Walk walk(const target::Registers& registers, Address start, std::vector<std::byte> bytes) {
    // Only the stack of the thread is from that moment. The VM's mark is not used: it is from now.
    JavaThread thread;
    thread.stack_base = start + bytes.size();
    thread.stack_size = bytes.size();
    CachedMemory& memory = *inspection_.vm().cached_memory();
    memory.reset();
    memory.overlay(start, std::move(bytes));
    code_.forget();
    Walk walk = mixed_->walk(thread, registers);
    if (!walk.incomplete() || !read_libraries_again()) return walk;
    return mixed_->walk(thread, registers);
  }

 private:
  void find_libraries() {
    names_.emplace(inspection_.target());
    native_.emplace(inspection_.target(), inspection_.vm().memory(),
                    [code = &code_](Address pc) { return code->contains(pc); });
    mixed_.emplace(java_, *native_, *names_, code_);
  }
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
  JavaWalker java_;
  std::optional<NativeNames> names_;
  std::optional<NativeUnwinder> native_;
  std::optional<MixedWalker> mixed_;
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

}  // namespace jtrace::coreinspect
