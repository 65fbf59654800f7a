// SampledJvm: one JVM whose threads are sampled: turns the kernel's copies of registers and stacks into threads with
// frames. Shares the inspection. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coreinspect/tools/copied_stack.h"
#include "sampling/kernel_names.h"
#include "sampling/lock_looks.h"
#include "sampling/mounted_thread.h"
#include "sampling/sample_record.h"
#include "sampling/sampled_threads.h"
#include "sampling/sleep_look.h"
#include "sampling/virtual_names.h"

namespace jtrace::sampling {

class SampledJvm {
 public:
  // Errors: the code cache cannot be read; a core.
  static Result<std::unique_ptr<SampledJvm>> open(std::shared_ptr<coreinspect::Inspection> inspection);

  const target::Process& process() const { return *inspection_.target().process(); }
  // Forgets what was read of the target: before the samples of a round.
  void refresh() { walker_->refresh(); }

  // A virtual thread has its own id, and the frames up to its first, and a name at the root of its stacks: those
  // without a name share one. `kernel`: null if the kernel's part must not be shown. `carried`, if not null: the
  // virtual thread as it is.
  coreinspect::ThreadReport report_of(const SampleRecord& sample, const KernelNames* kernel,
                                      std::optional<MountedThread>* carried = nullptr);
  // Samples of virtual threads that could not be named.
  std::uint64_t unnamed() const { return unnamed_; }
  // A thread whose stack at that moment is not known.
  coreinspect::ThreadReport without_stack(pid_t tid, std::string why);
  // Its name, as at the root of its stacks.
  std::string name_of(pid_t tid);
  // Whether it is time to look who has locks.
  bool may_look_at_locks() const { return locks_.is_due(); }
  // Of threads that wait: who has what those wait for that wait for a lock. `threads`: with their stack pointers, 0 if
  // unknown.
  std::map<pid_t, LockOwner> owners_of(const std::map<pid_t, target::Address>& threads);
  void thread_named(pid_t tid, std::string name) { threads_.named(tid, std::move(name)); }
  // It has ended: its number may be another thread's soon.
  void forget_thread(pid_t tid) { threads_.forget(tid); }
  // A thread's stack as it lies in memory, without stopping it, if it sleeps.
  struct Look {
    Sleep sleep = Sleep::kGone;
    coreinspect::ThreadReport thread;  // of kWhole
    ThreadMoment moment;               // of kWhole: as long as it is the same, so is the stack
  };
  Look look_at(pid_t tid);
  ThreadMoment moment_of(pid_t tid) const;

 private:
  SampledJvm(std::shared_ptr<coreinspect::Inspection> inspection,
             std::unique_ptr<coreinspect::CopiedStackWalker> walker, const coreinspect::CodeCache& code)
      : owner_(std::move(inspection)),
        inspection_(*owner_),
        walker_(std::move(walker)),
        threads_(inspection_),
        java_(inspection_.methods(), inspection_.objects(), code),
        locks_(inspection_) {}
  struct Carried {
    bool is_virtual = false;
    std::optional<MountedThread> thread;  // nothing if it is not known
  };
  // `sp`, `stack`: the copy of which its walk is.
  Carried name_virtual_thread(target::Address sp, std::span<const std::byte> stack, coreinspect::ThreadReport& report);
  std::vector<std::byte> read_stack(const coreinspect::JavaThread& thread, target::Address sp);
  coreinspect::Walk walk_sleeper(const coreinspect::JavaThread& thread, target::Address sp, target::Address pc,
                                 std::span<const std::byte> stack);

  const std::shared_ptr<coreinspect::Inspection> owner_;
  coreinspect::Inspection& inspection_;
  std::unique_ptr<coreinspect::CopiedStackWalker> walker_;
  SampledThreads threads_;
  coreinspect::JavaWalker java_;
  LockLooks locks_;
  VirtualNames virtual_names_;
  std::uint64_t unnamed_ = 0;
};

}  // namespace jtrace::sampling
