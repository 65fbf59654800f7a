#include "coreinspect/hprof/dump_threads.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "coreinspect/hprof/vm_roots.h"
#include "coreinspect/unwind/virtual_threads.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kMaxFrameBytes = 1u << 20;
constexpr std::uint64_t kMaxLocals = 65536;  // JVMS 4.11

class DumpThreadReader {
 public:
  DumpThreadReader(const HeapAccess& access, std::vector<std::string>& missing)
      : access_(access), inspection_(access.inspection()), vm_(inspection_.vm()), missing_(missing) {
    for (const target::ThreadRegisters& thread : access.threads()) registers_[thread.registers.sp()] = thread.registers;
    for (const HeapRegion& region : access.layout().regions)
      if (region.used() > 0) {
        low_ = std::min(low_, region.start);
        high_ = std::max(high_, region.top);
      }
  }

  std::vector<DumpThread> read() {
    std::vector<DumpThread> threads;
    const auto code = inspection_.code();
    if (!code) missing_.push_back(code.error().message());
    std::optional<JavaWalker> walker;
    if (code) walker.emplace(inspection_.methods(), inspection_.objects(), **code);
    code_ = code ? *code : nullptr;
    const auto addresses = java_thread_addresses(vm_);
    if (!addresses) missing_.push_back(addresses.error().with_context("cannot list the Java threads").message());
    UnreadStacks broken;
    for (Address address : addresses ? *addresses : std::vector<Address>()) {
      const JavaThread java = read_java_thread(inspection_.objects(), address);
      if (java.object == 0) continue;
      DumpThread thread{.object = access_.place_of(java.object), .name = java.name, .hidden = java.is_hidden()};
      if (walker) add_frames(*walker, java, thread, broken);
      add_handles(address, thread);
      add_monitors(java, thread);
      threads.push_back(std::move(thread));
    }
    if (walker) {
      for (VirtualThread& found : read_virtual_threads(inspection_.objects(), *walker, missing_)) {
        if (found.vm_state == "TERMINATED") continue;
        DumpThread thread{.object = access_.place_of(found.object), .name = found.name, .is_virtual = true};
        keep_frames(found.walk, thread);
        threads.push_back(std::move(thread));
      }
    }
    if (std::string line = broken.text("thread"); !line.empty()) missing_.push_back(std::move(line));
    return threads;
  }

 private:
  void add_frames(const JavaWalker& walker, const JavaThread& java, DumpThread& thread, UnreadStacks& broken) {
    const target::Registers* registers = nullptr;
    const auto own = registers_.lower_bound(java.stack_base - java.stack_size);
    if (own != registers_.end() && java.has_stack_address(own->first)) registers = &own->second;
    const Walk walk = walker.walk(java, registers);
    keep_frames(walk, thread);
    // The registers of a thread that runs in Java belong to its innermost frame.
    if (registers && java.last_sp == 0 && !thread.frames.empty()) add_registers(*registers, thread);
    if (walk.incomplete()) broken.note(java.name, walk.stopped);
  }

  void keep_frames(const Walk& walk, DumpThread& thread) {
    std::set<Address> scanned;  // inlined frames share the stack of the frame that they are inlined into
    for (const Frame& frame : walk.frames) {
      if (!frame.method) continue;
      const auto index = static_cast<std::uint32_t>(thread.frames.size());
      thread.frames.push_back(frame);
      for (Address lock : frame.locks) thread.monitors.push_back(access_.place_of(lock));
      if (!scanned.insert(frame.sp).second) continue;
      if (frame.kind == FrameKind::kInterpreted) scan_interpreted(frame, index, thread);
      else scan_compiled(frame, index, thread);
    }
  }

  void add_registers(const target::Registers& registers, DumpThread& thread) {
    const target::IsaTraits& traits = registers.traits();
    for (std::size_t i = traits.first_general; i <= traits.last_general; ++i) {
      const std::uint64_t value = registers.words[i];
      candidate(thread, 0, value);
      if (access_.shape().compressed_oops) narrow_candidate(thread, 0, static_cast<std::uint32_t>(value));
    }
  }

  Result<Address> slot(Address fp, int words) const {
    return vm_.memory().read<Address>(fp + static_cast<Address>(static_cast<std::int64_t>(words) * 8));
  }

  // Its locals, upwards from the caller's stack, and its expression stack.
  void scan_interpreted(const Frame& frame, std::uint32_t index, DumpThread& thread) {
    // In a stack chunk the collector may have compressed the references.
    const bool narrow = thread.is_virtual && access_.shape().compressed_oops;
    const auto locals = slot(frame.fp, vm_.quirks().machine.bcp + 1);
    const std::uint64_t count = std::min<std::uint64_t>(frame.method->max_locals, kMaxLocals);
    if (locals && count > 0) {
      // An address up to 17, later words from fp.
      const auto words = static_cast<std::int64_t>(*locals);
      const Address first =
          words > -(1 << 20) && words < (1 << 20) ? frame.fp + static_cast<Address>(words * 8) : *locals;
      scan(first - (count - 1) * 8, first + 8, narrow, index, thread);
    }
    const int top = vm_.quirks().machine.initial_sp;
    scan(frame.sp, frame.fp + static_cast<Address>(static_cast<std::int64_t>(top) * 8), narrow, index, thread);
  }

  // What is in the frame of its wrapper was left there by calls before: a thread that sleeps would keep a dead object,
  // and what it refers to, for as long. Unsafe is held by a static field.
  static bool has_no_references(const JavaMethod& method) {
    const std::string_view parameters = std::string_view(method.signature).substr(0, method.signature.find(')'));
    const bool is_of_nobody =
        method.is_static() || method.class_name == "jdk.internal.misc.Unsafe" || method.class_name == "sun.misc.Unsafe";
    return method.is_native() && is_of_nobody && parameters.find_first_of("L[") == std::string_view::npos;
  }

  void scan_compiled(const Frame& frame, std::uint32_t index, DumpThread& thread) {
    candidate(thread, index, frame.fp);  // the one register that compiled code preserves over calls
    if (access_.shape().compressed_oops) narrow_candidate(thread, index, static_cast<std::uint32_t>(frame.fp));
    if (has_no_references(*frame.method)) return;
    const auto blob = code_ ? code_->find(frame.pc) : Result<std::optional<CodeBlob>>();
    if (!blob || !*blob) return;
    scan(frame.sp, frame.sp + std::uint64_t{(*blob)->frame_size} * 8, access_.shape().compressed_oops, index, thread);
  }

  void scan(Address start, Address end, bool narrow, std::uint32_t index, DumpThread& thread) {
    if (end <= start || end - start > kMaxFrameBytes || start % 8 != 0) return;
    std::vector<std::uint64_t> words((end - start) / 8);
    if (!vm_.memory().read_exactly(start, std::as_writable_bytes(std::span(words)))) return;
    for (const std::uint64_t word : words) {
      candidate(thread, index, word);
      if (!narrow) continue;
      narrow_candidate(thread, index, static_cast<std::uint32_t>(word));
      narrow_candidate(thread, index, static_cast<std::uint32_t>(word >> 32));
    }
  }

  void candidate(DumpThread& thread, std::uint32_t frame, std::uint64_t raw) {
    if (raw == 0) return;
    for (const Address object : inspection_.objects().all_from_stack(raw)) add(thread, frame, object);
  }
  void narrow_candidate(DumpThread& thread, std::uint32_t frame, std::uint32_t narrow) {
    add(thread, frame, inspection_.objects().from_narrow(narrow));
  }
  void add(DumpThread& thread, std::uint32_t frame, Address object) {
    if (object < low_ || object >= high_ || object % 8 != 0) return;
    object = access_.place_of(object);
    const bool known =
        std::any_of(thread.candidates.rbegin(), thread.candidates.rend(),
                    [&](const FrameReference& other) { return other.frame == frame && other.object == object; });
    if (!known) thread.candidates.push_back({object, frame});
  }

  void add_handles(Address java_thread, DumpThread& thread) {
    for (const Address object : jni_locals(inspection_, java_thread))
      if (object >= low_ && object < high_) thread.jni_locals.push_back(access_.place_of(object));
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
  const CodeCache* code_ = nullptr;
  std::map<Address, target::Registers> registers_;  // by sp
  Address low_ = UINT64_MAX, high_ = 0;             // of the used heap
};

}  // namespace

std::vector<DumpThread> read_dump_threads(const HeapAccess& access, std::vector<std::string>& missing) {
  return DumpThreadReader(access, missing).read();
}

}  // namespace jtrace::coreinspect
