// HeapAccess: prepares the heap of a target for a walk: a core is read in its file; the heap of a live JVM is copied
// while the JVM is stopped, or read while it runs.
//
// The duration of the stop is estimated beforehand, from the resident part of the used bytes and the speed of a few
// reads. If it exceeds the bound, or if the copy would take more than half of the free memory, nothing is stopped. If
// the heap has grown too much by the time of the stop, the stop ends at once and is repeated with more room. If that
// fails too, the heap is read while the JVM runs, if that is allowed (why_running() has the reason). Pages that the
// target never touched are not read. Ownership: borrows the inspection, owns the copy. Threads: one at a time; memory()
// from any. Errors: kRefused (too large for the bound), those of HeapStop.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>

#include "coreinspect/gc/forwarded_objects.h"
#include "coreinspect/gc/heap_copy.h"
#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/gc/heap_stop.h"
#include "coreinspect/gc/heap_walker.h"
#include "coreinspect/model/inspection.h"
#include "target/registers.h"

namespace jtrace::coreinspect {

struct HeapAccessOptions {
  bool no_stop = false;
  std::chrono::milliseconds max_stop{200};
  bool or_running = false;  // if it cannot be stopped within the bound, read it while it runs
  bool strict = false;      // but not if it is known beforehand that the stop would exceed the bound
  bool stacks = false;      // registers, stacks and JavaThreads too, as an overlay of the VM's memory
  // Reads what outside of the heap refers to its objects. Vm::note_root() gets their addresses; these pages are copied
  // during the stop, as an overlay too: a collection that moves objects afterwards changes them.
  std::function<void()> roots;
};

class HeapAccess {
 public:
  static Result<std::unique_ptr<HeapAccess>> open(Inspection& inspection, const HeapAccessOptions& options);
  ~HeapAccess();  // removes the overlay of the VM's memory

  Inspection& inspection() const { return inspection_; }
  const HeapLayout& layout() const { return layout_; }
  const target::MemoryReader& memory() const { return *memory_; }  // for HeapWalker
  // Where the object is to which a reference leads: a walk finds it there.
  Address place_of(Address object) const { return forwarded_.place_of(object); }
  KlassTable& klasses() const { return *klasses_; }
  const HeaderShape& shape() const { return shape_; }
  bool runs() const { return runs_; }                              // the target runs while it is read
  std::chrono::nanoseconds pause() const { return pause_; }        // duration of the longest stop
  std::chrono::nanoseconds estimate() const { return estimate_; }  // the expected duration
  int tries() const { return tries_; }                             // number of stops
  const std::string& why_running() const { return why_running_; }  // "" if reading while it runs was requested
  // After a stop with stacks: the threads, with tids as this process sees them. Of a core: all its threads.
  const std::vector<target::ThreadRegisters>& threads() const { return threads_; }
  // With stacks: of a thread that was in generated code, the words of its vector registers that are not 0.
  std::span<const std::uint64_t> vectors(pid_t tid) const;
  // Of a running target: the layout at this moment.
  Result<HeapLayout> layout_now() const;
  std::vector<std::string> missing() const { return missing_; }

 private:
  explicit HeapAccess(Inspection& inspection) : inspection_(inspection) {}
  Result<> copy_stopped(const HeapAccessOptions& options);
  Result<> make_ready(const HeapAccessOptions& options);
  Result<> refuse_if_too_large(const HeapAccessOptions& options);
  Result<> copy_once(const HeapAccessOptions& options);
  struct Outside {  // what is to be copied beside the heap
    std::vector<target::Mapping> mappings;
    std::set<Address> pages;
  };
  Result<> stop_and_copy(const HeapAccessOptions& options, const Outside& outside);
  Result<> copy_within(HeapStop& stop);
  std::set<Address> pages_of_roots(const std::function<void()>& roots) const;
  bool keep(Address start, Address end);  // false if it cannot be read
  void keep_pages(const std::set<Address>& pages);
  // `set_of`: the set of registers of a thread, by its index in threads_.
  void keep_vectors(const std::function<std::span<const std::byte>(std::size_t)>& set_of);
  void keep_stacks(const HeapStop& stop, const std::vector<target::Mapping>& mappings);
  Result<> read_running(const Error& why);

  Inspection& inspection_;
  HeapLayout layout_;
  std::unique_ptr<HeapCopy> copy_;
  const target::MemoryReader* memory_ = nullptr;
  ForwardedObjects forwarded_;
  std::unique_ptr<KlassTable> klasses_;
  HeaderShape shape_;
  bool runs_ = false;
  double cost_of_byte_ = 0;   // nanoseconds
  std::uint64_t growth_ = 0;  // bytes by which the heap grew during preparation
  double resident_share_ = 1;
  int tries_ = 0;
  bool too_slow_ = false;  // the machine is too slow; another stop would not help
  std::string why_running_;
  std::vector<std::pair<Address, std::vector<std::byte>>> copied_;  // stacks, threads and roots
  std::chrono::nanoseconds pause_{}, estimate_{}, layout_cost_{};
  std::vector<target::ThreadRegisters> threads_;
  std::map<pid_t, std::vector<std::uint64_t>> vectors_;  // by tid
  std::vector<std::string> missing_;
};

}  // namespace jtrace::coreinspect
