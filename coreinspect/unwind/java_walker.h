// Java frames of one thread: interpreted, compiled with inlined calls, and the stubs and entry frames between them.
//
// Uses the rules of frame_*.hpp (MachineRules), interpreterFrame and nmethod, JDK 8 to 27, over any MemoryReader. Every
// step outwards must go up on the stack, so that a damaged stack ends the walk instead of a loop. Threads: one at a
// time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/code/code_cache.h"
#include "coreinspect/oops/object_model.h"
#include "coreinspect/runtime/java_threads.h"
#include "coreinspect/runtime/method_model.h"
#include "coreinspect/unwind/top_frame.h"
#include "target/registers.h"

namespace jtrace::coreinspect {

enum class FrameKind { kInterpreted, kCompiled, kInlined, kNative, kStub, kEntry, kVm };
std::string_view to_string(FrameKind kind);  // "interpreted", ...: the "kind" of docs/architecture.md

// Where the variables of a compiled frame are described (CodeCache::variables).
struct FrameScope {
  std::uint32_t locals = 0, objects = 0;
  // The description is of this very place, and nothing of the frame was guessed: values are where it says.
  bool exact = false;
  // For certain it is at a call or at a poll.
  bool at_call = false;
  // Its caller's view of the registers that a stub has saved (MachineRules::saved_register); 0: all but the frame
  // pointer are lost.
  Address registers = 0;
};

struct Frame {
  FrameKind kind = FrameKind::kStub;
  const JavaMethod* method = nullptr;  // null for stubs, entry and native frames
  int bci = -1;
  Address pc = 0, sp = 0, fp = 0;
  std::string name;                   // of a stub or a native symbol
  std::string module;                 // of a native frame: file name
  std::uint64_t module_offset = 0;    // of a native frame: offset in the file
  std::uint64_t function_offset = 0;  // of one without a symbol: that of its function's begin; 0: not known
  std::vector<Address> locks;         // objects of the monitors it holds, the last taken first
  Address unextended_sp = 0;          // of a compiled frame: what its debug information counts from
  bool in_chunk = false;              // it lies in the heap (StackRange::in_heap)
  FrameOops oops = FrameOops::kPlain;
  FrameScope scope;  // of a compiled frame
};

// The name of a stub frame in the place of frames that are in the stack chunks of a continuation: a virtual thread that
// has been parked takes its frames back one after the other, when it returns to them. Its sp is the address of the
// ContinuationEntry (coreinspect/unwind/stack_chunks.h).
inline constexpr std::string_view kFramesInChunks = "[frames of a virtual thread in the heap]";
bool are_in_chunks(const Frame& frame);
// Whether it is the method of this name of jdk.internal.vm.Continuation; null: no.
bool is_of_continuation(const JavaMethod* method, std::string_view name);

struct FrameStart {
  Address pc = 0, sp = 0, fp = 0;
  Address bcp = 0;       // of a thread that runs in the interpreter; 0 if it is not known
  bool running = false;  // from registers: pc is not a return address
  // Of one that runs, for the interpreter and adapters (target::Registers).
  Address link = 0, method = 0, sender_sp = 0;
  // For code that runs: which of the possible callers to take (TopFrame); 0 is the most probable one.
  std::size_t attempt = 0;
};
FrameStart running_at(const target::Registers& registers);

struct Walk {
  std::vector<Frame> frames;  // innermost first
  std::string stopped;        // "" if the bottom was reached, otherwise why the walk stopped
  // Native frames were wanted: the outermost one was reached by unwinding without a gap.
  bool native_bottom = false;
  int gaps = 0;         // places where native frames are missing
  bool beyond = false;  // it stopped because the stack continues beyond the memory that is known
  bool incomplete() const { return !stopped.empty(); }
};

// Threads whose stacks were not read to the end, as a line for "missing".
class UnreadStacks {
 public:
  void note(const std::string& thread, const std::string& why) {
    if (count_++ == 0) first_ = "\"" + thread + "\"" + (why.empty() ? "" : ": " + why);
  }
  // "2 threads could not be read to the end: "main": ..., and others"; "" for none. `what`: "thread".
  std::string text(std::string_view what) const;

 private:
  std::size_t count_ = 0;
  std::string first_;
};

// Memory that frames may lie in: a thread's stack, or the stack chunk of a virtual thread.
struct StackRange {
  Address low = 0, high = 0;
  bool in_heap = false;  // a chunk: its interpreted frames hold distances where a stack has addresses
  FrameOops oops = FrameOops::kPlain;
  bool contains(Address at) const { return at >= low && at < high; }
};

class JavaWalker {
 public:
  JavaWalker(const MethodModel& methods, const ObjectModel& objects, const CodeCache& code)
      : methods_(methods),
        objects_(objects),
        code_(code),
        vm_(methods.classes().vm()),
        top_(vm_.memory(), vm_.target(), code) {}

  // Starts at the thread's anchor, otherwise (in Java) at the given registers. Only Java frames: native frames between
  // two runs of them are skipped.
  Walk walk(const JavaThread& thread, const target::Registers* registers) const;

  // One run of generated code, up to the frame that native code called.
  struct Segment {
    std::vector<Frame> frames;
    std::string stopped;
    bool at_entry = false;     // it ends in an entry frame; `native` and `next` describe the rest
    bool to_native = false;    // it ends in a stub that native code called; `native` is the caller
    FrameStart native;         // the caller of the entry frame
    FrameStart next;           // the Java frames further out; sp 0: none
    bool beyond = false;       // it continues beyond the memory that is known
    std::size_t attempts = 0;  // number of possible callers of the frame that runs
  };
  Segment segment(const StackRange& stack, FrameStart start) const;
  // The start of a walk over a chunk, where `start.fp` is the word in the frame.
  FrameStart from_chunk(FrameStart start) const;
  // The JavaCallWrapper of an entry frame.
  Result<Address> call_wrapper(Address entry_fp) const;
  // Where a thread's innermost Java frame starts: its anchor; sp 0 if it has none.
  FrameStart anchor_of(const JavaThread& thread) const;

 private:
  struct Position {
    Address pc = 0, sp = 0, unextended_sp = 0, fp = 0, bcp = 0;
    bool running = false;
    Address link = 0, method = 0, sender_sp = 0;
    std::size_t attempt = 0;
    bool doubtful = false;  // it is one of several possible callers
    Address registers = 0;  // FrameScope
    void move_to(const Caller& caller) {
      pc = caller.pc, sp = caller.sp, unextended_sp = caller.unextended_sp, fp = caller.fp;
      doubtful = false, registers = 0;
    }
  };
  Walk walk_from(const StackRange& stack, FrameStart start, std::size_t& attempts) const;
  bool is_return_barrier(const CodeBlob& blob, Address pc) const;
  bool is_return_barrier(Address pc) const;
  Result<> step_continuation(const StackRange& stack, const CodeBlob& blob, Position& at, Segment& segment) const;
  bool is_at_entry(const Position& at) const;
  bool is_caller_of_entry(Address pc, Address fp) const;
  Result<> step(const StackRange& stack, Position& at, Segment& segment) const;
  Result<> step_interpreter(const StackRange& stack, Position& at, Segment& segment) const;
  Result<> step_running(const StackRange& stack, const CodeBlob& blob, Position& at, Segment& segment) const;
  Result<> step_stub(const StackRange& stack, const CodeBlob& blob, Position& at) const;
  TopFrame::At top_of(const StackRange& stack, const Position& at) const;
  bool is_end_of_chunk(const StackRange& stack, const Position& at) const;
  Result<> step_entry(Position& at, Segment& segment) const;
  Result<> step_interpreted(const StackRange& stack, Position& at, Segment& segment) const;
  Result<> step_blob(const StackRange& stack, const CodeBlob& blob, Position& at, Segment& segment) const;
  Result<> add_compiled(const StackRange& stack, const CodeBlob& blob, const Position& at, Segment& segment) const;
  Result<int> interpreted_bci(const StackRange& stack, const Position& at, const JavaMethod& method) const;
  Address reference_in(const StackRange& stack, Address raw) const;
  std::vector<Address> interpreted_locks(const StackRange& stack, Address fp) const;
  std::vector<Address> compiled_locks(const StackRange& stack, const CodeBlob& blob, const ScopeFrame& scope,
                                      const Position& at) const;
  Result<Address> lock_object(const StackRange& stack, const CodeBlob& blob, const ScopeMonitor& monitor,
                              const Position& at) const;
  Result<Address> word(Address at) const { return vm_.memory().read<Address>(at); }
  Result<Address> return_address(Address at) const;

  const MethodModel& methods_;
  const ObjectModel& objects_;
  const CodeCache& code_;
  const Vm& vm_;
  TopFrame top_;
};

}  // namespace jtrace::coreinspect
