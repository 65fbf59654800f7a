#include "coreinspect/hprof/dump_threads.h"

#include <map>

#include "base/strings.h"
#include "coreinspect/hprof/vm_roots.h"
#include "coreinspect/unwind/stack_chunks.h"
#include "coreinspect/unwind/stack_walkers.h"
#include "coreinspect/unwind/virtual_threads.h"

namespace jtrace::coreinspect {
namespace {

class DumpThreadReader {
 public:
  DumpThreadReader(const HeapAccess& access, std::vector<std::string>& missing)
      : access_(access), inspection_(access.inspection()), vm_(inspection_.vm()), missing_(missing) {
    for (const target::ThreadRegisters& thread : access.threads()) registers_[thread.registers.sp()] = &thread;
  }

  std::vector<DumpThread> read() {
    std::vector<DumpThread> threads;
    const auto code = inspection_.code();
    if (!code) missing_.push_back(code.error().message());
    std::optional<StackWalkers> walkers;
    if (code) walkers.emplace(inspection_.methods(), inspection_.objects(), **code);
    references_.emplace(access_, code ? *code : nullptr);
    const auto addresses = java_thread_addresses(vm_);
    if (!addresses) missing_.push_back(addresses.error().with_context("cannot list the Java threads").message());
    UnreadStacks broken, torn;
    for (Address address : addresses ? *addresses : std::vector<Address>()) {
      const JavaThread java = read_java_thread(inspection_.objects(), address);
      if (java.object == 0) continue;
      DumpThread thread{.object = access_.place_of(java.object), .name = java.name, .hidden = java.is_hidden()};
      if (walkers) add_frames(*walkers, java, thread, broken);
      add_handles(address, thread);
      add_monitors(java, thread);
      threads.push_back(std::move(thread));
    }
    if (walkers) {
      for (VirtualThread& found : read_virtual_threads(inspection_.objects(), walkers->java(), missing_)) {
        if (found.vm_state == "TERMINATED") continue;
        DumpThread thread{.object = access_.place_of(found.object), .name = found.name, .is_virtual = true};
        keep_frames(found.walk, thread);
        thread.candidates = references_->of(found.walk, {});
        if (found.walk.incomplete()) torn.note(found.name, found.walk.stopped);
        threads.push_back(std::move(thread));
      }
    }
    for (std::string line : {broken.text("thread"), torn.text("virtual thread")})
      if (!line.empty()) missing_.push_back(std::move(line));
    return threads;
  }

 private:
  void add_frames(const StackWalkers& walkers, const JavaThread& java, DumpThread& thread, UnreadStacks& broken) {
    const target::ThreadRegisters* registers = nullptr;
    const auto own = registers_.lower_bound(java.stack_base - java.stack_size);
    if (own != registers_.end() && java.has_stack_address(own->first)) registers = own->second;
    Walk walk = walkers.java_frames(java, registers != nullptr ? &registers->registers : nullptr);
    join_chunks(inspection_.objects(), walkers.java(), java.vm_state, nullptr, walk);
    keep_frames(walk, thread);
    const bool runs = java.last_sp == 0;
    thread.candidates = references_->of(walk, {.stack_base = java.stack_base, .registers = runs ? registers : nullptr});
    for (const Frame& frame : walk.frames)
      if (frame.kind == FrameKind::kEntry) add_call(walkers.java(), frame, thread);
    if (walk.incomplete()) broken.note(java.name, walk.stopped);
  }

  // Native code has called Java there.
  void add_call(const JavaWalker& walker, const Frame& entry, DumpThread& thread) {
    const auto wrapper = walker.call_wrapper(entry.fp);
    if (!wrapper) return;
    for (const Address object : jni_locals_of_call(inspection_, *wrapper)) add_local(object, thread);
  }

  void keep_frames(const Walk& walk, DumpThread& thread) {
    for (const Frame& frame : walk.frames) {
      if (!frame.method) continue;
      thread.frames.push_back(frame);
      for (Address lock : frame.locks) thread.monitors.push_back(access_.place_of(lock));
    }
  }

  void add_handles(Address java_thread, DumpThread& thread) {
    for (const Address object : jni_locals(inspection_, java_thread)) add_local(object, thread);
  }
  void add_local(Address object, DumpThread& thread) {
    if (references_->in_heap(object)) thread.jni_locals.push_back(access_.place_of(object));
  }
  void add_monitors(const JavaThread& java, DumpThread& thread) {
    for (const Address monitor : {java.pending_monitor, java.waiting_monitor}) {
      if (monitor == 0) continue;
      const auto object = inspection_.objects().root_field(monitor, "ObjectMonitor", "_object");
      if (object && *object != 0) thread.monitors.push_back(access_.place_of(*object));
    }
  }

  const HeapAccess& access_;
  Inspection& inspection_;
  const Vm& vm_;
  std::vector<std::string>& missing_;
  std::optional<FrameReferences> references_;
  std::map<Address, const target::ThreadRegisters*> registers_;  // by sp
};

}  // namespace

std::vector<DumpThread> read_dump_threads(const HeapAccess& access, std::vector<std::string>& missing) {
  return DumpThreadReader(access, missing).read();
}

}  // namespace jtrace::coreinspect
