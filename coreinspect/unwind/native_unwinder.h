// NativeUnwinder: native frames of one thread, over any MemoryReader.
//
// x86-64: by libunwind, which gets call frame information from the mapped images (.eh_frame_hdr and .eh_frame are
// loaded segments), so it works on a snapshot and on a core. This class finds the image; libunwind searches its table.
// If an image has no such information, the frame pointer is followed. aarch64: by the frame records that x29 leads to,
// which the machine's ABI asks each function to keep; signed return addresses lose their signature. Every step is
// checked: it must go up on the stack and lead to executable memory. Ownership: borrows target and memory; keeps what
// it knows of images. Threads: one at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "target/registers.h"
#include "target/target.h"

namespace jtrace::coreinspect {

struct NativeFrame {
  target::Address pc = 0, sp = 0, fp = 0;
  bool exact = false;           // pc is where the thread is (top, or below a signal frame), not a return address
  bool signal = false;          // the kernel put it there to run a signal handler
  target::Address siginfo = 0;  // then: the siginfo_t on the stack; 0 if it was not found
};

struct NativeWalk {
  enum class End {
    kBottom,     // the outermost frame: its return address is undefined
    kGenerated,  // the next frame is generated code
    kLost,       // the next frame cannot be found
  };
  std::vector<NativeFrame> frames;  // innermost first
  End end = End::kLost;
  NativeFrame next;           // of kGenerated
  target::Registers at_next;  // as far as call frame information gives them
  std::string why;            // of kLost
  bool beyond = false;        // of kLost: the next frame is beyond `limit`
  // False: next.sp and at_next's are not more than a lower limit. Frame records do not have the size of a frame.
  bool sp_known = true;
};

class NativeUnwinder {
 public:
  // `generated` returns whether a pc is in generated code, which has no call frame information.
  using IsGenerated = std::function<bool(target::Address)>;
  NativeUnwinder(const target::Target& target, const target::MemoryReader& memory, IsGenerated generated);
  ~NativeUnwinder();

  // From registers whose pc is native code. `limit`: the highest address of the stack, 0 unknown.
  NativeWalk walk(const target::Registers& from, bool exact, target::Address limit) const;
  // Whether an image's code is mapped there.
  bool knows(target::Address pc) const { return module_of(pc) != nullptr; }

 private:
  struct Module {
    target::Address start = 0, end = 0;
    target::Address header = 0, table = 0;  // .eh_frame_hdr and its binary search table; 0 none
    std::uint64_t entries = 0;
  };
  struct Space;
  friend struct UnwindAccess;
  NativeWalk walk_call_frames(const target::Registers& from, bool exact, target::Address limit) const;
  NativeWalk walk_frame_records(const target::Registers& from, bool exact, target::Address limit) const;
  bool has_no_record(target::Address pc) const;
  // By the tables of call frame information; nothing if there are none.
  std::optional<target::Address> function_start(target::Address pc) const;
  const Module* module_of(target::Address pc) const;
  Module read_module(target::Address pc) const;

  const target::Target& target_;
  const target::MemoryReader& memory_;
  IsGenerated generated_;
  std::unique_ptr<Space> space_;
  mutable std::map<target::Address, Module> modules_;  // by end
};

}  // namespace jtrace::coreinspect
