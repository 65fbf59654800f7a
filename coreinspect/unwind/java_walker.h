// Java frames of one thread: interpreted, compiled with what was inlined, stubs and entry frames between them.
//
// The rules of frame_x86.hpp, interpreterFrame and nmethod, JDK 8 to 27, over any MemoryReader. Every step upwards must
// rise on the stack, so that a damaged stack ends and does not loop. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/code/code_cache.h"
#include "coreinspect/runtime/java_threads.h"
#include "coreinspect/runtime/method_model.h"
#include "target/registers.h"

namespace jtrace::coreinspect {

enum class FrameKind { kInterpreted, kCompiled, kInlined, kNative, kStub, kEntry, kVm };
std::string_view to_string(FrameKind kind);  // "interpreted", ... as the "kind" of docs/architecture.md

struct Frame {
  FrameKind kind = FrameKind::kStub;
  const JavaMethod* method = nullptr;  // null for stubs, entry and native frames
  int bci = -1;
  Address pc = 0, sp = 0, fp = 0;
  std::string name;                 // of a stub or a native symbol
  std::string module;               // of a native frame: file name
  std::uint64_t module_offset = 0;  // of a native frame: vaddr in the file
};

struct FrameStart {
  Address pc = 0, sp = 0, fp = 0;
  Address bcp = 0;       // r13 of a thread that runs in the interpreter; 0 where not known
  bool running = false;  // from registers: pc is not a return address
};

struct Walk {
  std::vector<Frame> frames;  // innermost first
  std::string stopped;        // "" where the bottom was reached, else why it broke off
};

class JavaWalker {
 public:
  JavaWalker(const MethodModel& methods, const CodeCache& code)
      : methods_(methods), code_(code), vm_(methods.classes().vm()) {}

  Walk walk(const JavaThread& thread, FrameStart start) const;
  // From the thread's anchor, else (in Java) from its registers where they are given.
  Walk walk(const JavaThread& thread, const target::Registers* registers) const;

 private:
  struct Position {
    Address pc = 0, sp = 0, unextended_sp = 0, fp = 0, bcp = 0;
    bool running = false;
  };
  enum class Step { kGoOn, kBottom };
  Result<Step> step(const JavaThread& thread, Position& at, Walk& walk) const;
  Result<Step> step_entry(Position& at, Walk& walk) const;
  Result<> step_interpreted(Position& at, Walk& walk) const;
  Result<> step_blob(const CodeBlob& blob, Position& at, Walk& walk) const;
  Result<> add_compiled(const CodeBlob& blob, const Position& at, Walk& walk) const;
  Result<Address> word(Address at) const { return vm_.memory().read<Address>(at); }

  const MethodModel& methods_;
  const CodeCache& code_;
  const Vm& vm_;
};

}  // namespace jtrace::coreinspect
