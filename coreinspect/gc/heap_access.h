// HeapAccess: the heap of a target made ready to be walked: a core as it lies in its file, a live JVM copied while it
// stands still, or read while it runs.
//
// The stop is estimated first, from the used bytes and the speed of a first read. Beyond the bound, or beyond half of
// the free memory, it is refused before anything is stopped. Ownership: borrows the inspection, owns the copy. Threads:
// one at a time; memory() from any. Errors: kRefused (too large for the bound), those of StoppedThreads.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "coreinspect/gc/heap_copy.h"
#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/gc/heap_walker.h"
#include "coreinspect/model/inspection.h"
#include "target/registers.h"

namespace jtrace::coreinspect {

struct HeapAccessOptions {
  bool no_stop = false;
  std::chrono::milliseconds max_stop{200};
  bool stacks = false;  // registers, stacks and JavaThreads as well, laid over the VM's memory
};

class HeapAccess {
 public:
  static Result<std::unique_ptr<HeapAccess>> open(Inspection& inspection, const HeapAccessOptions& options);
  ~HeapAccess();  // what was laid over the VM's memory goes with it

  Inspection& inspection() const { return inspection_; }
  const HeapLayout& layout() const { return layout_; }
  const target::MemoryReader& memory() const { return *memory_; }  // for HeapWalker
  KlassTable& klasses() const { return *klasses_; }
  const HeaderShape& shape() const { return shape_; }
  bool runs() const { return runs_; }                              // the target goes on while it is read
  std::chrono::nanoseconds pause() const { return pause_; }        // for how long it stood
  std::chrono::nanoseconds estimate() const { return estimate_; }  // what was expected
  // Of a stop with stacks, as this process sees the tids; of a core all it has.
  const std::vector<target::ThreadRegisters>& threads() const { return threads_; }
  // Of a running target: the layout as it is now.
  Result<HeapLayout> layout_now() const;
  std::vector<std::string> missing() const { return missing_; }

 private:
  explicit HeapAccess(Inspection& inspection) : inspection_(inspection) {}
  Result<> copy_stopped(const HeapAccessOptions& options);
  Result<> refuse_if_too_large(const HeapAccessOptions& options, std::uint64_t used);

  Inspection& inspection_;
  HeapLayout layout_;
  std::unique_ptr<HeapCopy> copy_;
  const target::MemoryReader* memory_ = nullptr;
  std::unique_ptr<KlassTable> klasses_;
  HeaderShape shape_;
  bool runs_ = false;
  std::chrono::nanoseconds pause_{}, estimate_{};
  std::vector<target::ThreadRegisters> threads_;
  std::vector<std::string> missing_;
};

}  // namespace jtrace::coreinspect
