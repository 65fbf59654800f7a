// CodeCache: generated code of a VM: which blob an address is in, and which Java frames a compiled pc belongs to.
//
// CodeHeap's segment map, CodeBlob, nmethod, PcDesc and the scopes (heap.hpp, codeBlob.hpp, nmethod.hpp,
// scopeDesc.hpp). Ownership: borrows the Vm; keeps the segment maps it has read. Threads: one at a time. Errors: those
// of the memory; kMalformed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coreinspect/code/code_heaps.h"
#include "coreinspect/code/oop_maps.h"
#include "coreinspect/code/scope_values.h"
#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct CodeBlob {
  Address address = 0;
  std::uint64_t size = 0;  // bytes
  std::string name;        // "nmethod", "native nmethod", "StubRoutines (1)"
  Address code_begin = 0;
  std::uint32_t frame_size = 0;      // words
  std::uint32_t frame_complete = 0;  // bytes from code_begin until the frame is built
  Address method = 0;                // of an nmethod
  int comp_level = 0;                // 1 to 3 C1, 4 C2; 0 not compiled
  int compile_id = 0;
  bool is_nmethod() const { return method != 0; }
  // The stubs that copy frames from a stack chunk, and the return barrier (StubGenerator::generate_cont_thaw).
  bool is_continuation_stubs() const { return name.find("(continuation") != std::string::npos; }
  // The stub that a poll of compiled code calls (SafepointBlob).
  bool saves_registers() const { return name == "SafepointBlob"; }
};

struct ScopeFrame {
  Address method = 0;
  int bci = 0;
  std::uint64_t monitors = 0;  // where its locks are described, in the scopes; 0 none
  std::uint32_t locals = 0;    // the same of its variables
  std::uint32_t objects = 0;   // the same of the objects that the compiler has taken apart
  bool exact = false;          // this is the place of the pc that was asked for, not the next one
};

// A lock that a compiled frame holds: the place of its object.
struct ScopeMonitor {
  enum class Place {
    kStack,         // `offset` bytes from the frame's unextended sp
    kStackNarrow,   // the same, a compressed reference
    kFramePointer,  // in the frame pointer (rbp, x29), the only register that compiled code preserves over calls
    kFramePointerNarrow,
    kConstant,  // `offset` is an index into the oops of the code
    kUnknown,
  };
  Place place = Place::kUnknown;
  std::uint32_t offset = 0;
  bool eliminated = false;  // the compiler proved that no other thread can see the object: it is not locked
};

class CodeCache {
 public:
  static Result<CodeCache> read(const Vm& vm);

  bool contains(Address pc) const { return heaps_.contains(pc); }
  const std::vector<CodeHeap>& heaps() const { return heaps_.all(); }
  // The blob that contains `pc`; nothing if the segment is free or pc is outside.
  Result<std::optional<CodeBlob>> find(Address pc) const;
  bool in_interpreter(Address pc) const { return pc >= interpreter_begin_ && pc < interpreter_end_; }
  // The heap in which the VM's stubs are: one of its own, or the only one.
  std::optional<CodeHeap> heap_of_stubs() const;
  bool is_call_stub_return(Address pc) const { return pc != 0 && pc == call_stub_return_; }
  // To which a frame returns whose caller is in a stack chunk. Exported from 27 on; 0 if it is not known.
  Address return_barrier() const { return return_barrier_; }
  // Of the call in Continuation.enterSpecial (25 and later); 0 if it is not known.
  Address enter_return() const { return enter_return_; }
  // True if deoptimized frames return to pc: their real pc is in the frame.
  bool is_deopt_return(const CodeBlob& blob, Address pc) const;
  Result<Address> original_pc(const CodeBlob& blob, Address unextended_sp) const;
  // Innermost first. If pc is not a call site, the next place with debug information counts, and after the last one
  // that one: the end of a loop jumps back to code that it describes. Empty for compiled native wrappers.
  Result<std::vector<ScopeFrame>> scopes(const CodeBlob& blob, Address pc) const;
  // Locks of one of these frames, in the order in which they were taken. Stops at a description it does not know
  // (objects that were never made).
  Result<std::vector<ScopeMonitor>> monitors(const CodeBlob& blob, const ScopeFrame& frame) const;
  // The variables of such a frame: ScopeFrame::locals and ::objects.
  Result<ScopeVariables> variables(const CodeBlob& blob, std::uint32_t locals, std::uint32_t objects) const;
  // Where a frame at this call or poll has its references; nothing if the place is neither.
  Result<std::optional<std::vector<OopPlace>>> oop_map(const CodeBlob& blob, Address pc) const;
  // The slot of an oop constant of compiled code.
  Result<Address> constant_oop(const CodeBlob& blob, std::uint32_t index) const;
  // All of them: the first, and the end of the last.
  Result<std::pair<Address, Address>> constant_oops(const CodeBlob& blob) const;
  // All blobs in use, by address. Calls `take` until it returns false.
  Result<> for_each(const std::function<bool(const CodeBlob&)>& take) const;

  // Forgets the blobs of a live target, because its code changes.
  void forget() const { blobs_.clear(); }

 private:
  explicit CodeCache(const Vm& vm) : vm_(&vm), heaps_(vm.memory(), vm.cached_memory()) {}
  Result<> self_test() const;
  Result<CodeBlob> read_blob(Address address) const;
  Result<std::optional<Address>> block_of(const CodeHeap& heap, Address pc) const;
  struct Debug {
    Address scopes = 0, pcs = 0, pcs_end = 0, metadata = 0;
  };
  Result<Debug> debug_of(const CodeBlob& blob) const;

  const Vm* vm_;
  CodeHeaps heaps_;
  Address interpreter_begin_ = 0, interpreter_end_ = 0, call_stub_return_ = 0;
  Address return_barrier_ = 0, enter_return_ = 0;
  std::uint64_t header_size_ = 0;
  mutable std::map<Address, CodeBlob> blobs_;
};

}  // namespace jtrace::coreinspect
