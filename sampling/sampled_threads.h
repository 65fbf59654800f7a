// SampledThreads: the thread of a sample: its JavaThread, or its name in the kernel. Looked up when a thread is first
// seen and again every second, because threads get their names after they have started. The VM's list is read for a
// tenth of the time at most, however many threads it has. One thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::sampling {

// What the kernel knows of a thread.
struct KernelThread {
  std::string name;     // 15 characters at most
  pid_t native_id = 0;  // in its innermost pid namespace
};

class SampledThreads {
 public:
  struct Sources {
    // All threads of the VM; nothing if they cannot be read at the moment.
    std::function<std::optional<std::vector<coreinspect::JavaThread>>()> java;
    std::function<std::optional<KernelThread>(pid_t tid)> kernel;  // nothing if it has ended
    std::function<std::uint64_t()> now;                            // CLOCK_MONOTONIC, ns
  };

  // Borrows the inspection.
  explicit SampledThreads(const coreinspect::Inspection& inspection);
  explicit SampledThreads(Sources sources) : sources_(std::move(sources)) {}

  // Without registers and frames; valid until the next call. `sp` 0: it is not known where its stack was, so the thread
  // is known by its number alone.
  const coreinspect::ThreadReport& of(pid_t tid, target::Address sp);
  // The kernel's record that it got that name: of a thread that has ended since, or was looked up before.
  void named(pid_t tid, std::string name);
  // It has ended: its number may be another thread's soon.
  void forget(pid_t tid);

 private:
  struct Known {
    coreinspect::ThreadReport report;
    std::uint64_t looked_up = 0;  // ns
    std::uint64_t first = 0;      // ns
    bool by_stack = false;        // the last time
    bool without_name = false;    // the VM's thread has none: it just starts or ends
    bool is_java() const { return report.java.address != 0; }
  };
  bool is_due(const Known& known, target::Address sp, std::uint64_t now) const;
  bool may_read(std::uint64_t now) const { return now >= read_again_; }
  void read_java_threads();
  void look_up(pid_t tid, target::Address sp, Known& known);
  void look_up_ended(pid_t tid, Known& known) const;
  std::string name_of_ended(pid_t tid) const;
  bool may_be(const coreinspect::JavaThread& java, pid_t tid, const std::optional<KernelThread>& kernel) const;
  const coreinspect::JavaThread* with_stack(target::Address sp) const;
  const coreinspect::JavaThread* with_number(pid_t native_id) const;

  Sources sources_;
  std::map<target::Address, coreinspect::JavaThread> java_;  // by stack base
  std::map<pid_t, target::Address> stack_bases_;             // by native_id
  std::uint64_t read_ = 0, read_again_ = 0;                  // ns: when the list was begun; when it may be again
  std::map<pid_t, Known> known_;
  std::map<pid_t, std::string> names_;  // of records
  bool nested_ = false;                 // threads have other numbers in their pid namespace
};

}  // namespace jtrace::sampling
