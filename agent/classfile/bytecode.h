// Instructions of the JVM (JVMS 6.5): lengths, kinds, decoding of a method's code. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/classfile/bytes.h"

namespace jtrace::agent::classfile {

enum Op : std::uint8_t {
  kNop = 0,
  kIload = 21,
  kAload = 25,
  kIload0 = 26,
  kAload0 = 42,
  kBipush = 16,
  kSipush = 17,
  kLdc = 18,
  kLdcW = 19,
  kLdc2W = 20,
  kIconst0 = 3,
  kIstore = 54,
  kAstore = 58,
  kIstore0 = 59,
  kAstore0 = 75,
  kLastShortStore = 78,  // astore_3
  kPop = 87,
  kDup = 89,
  kDup2 = 92,
  kIor = 128,
  kIfeq = 153,
  kIfAcmpne = 166,
  kGoto = 167,
  kJsr = 168,
  kRet = 169,
  kTableswitch = 170,
  kLookupswitch = 171,
  kIreturn = 172,
  kReturn = 177,
  kInvokevirtual = 182,
  kInvokespecial = 183,
  kInvokestatic = 184,
  kInvokedynamic = 186,
  kNew = 187,
  kNewarray = 188,
  kAnewarray = 189,
  kAthrow = 191,
  kWide = 196,
  kMultianewarray = 197,
  kIfnull = 198,
  kIfnonnull = 199,
  kGotoW = 200,
  kJsrW = 201,
};

struct Instruction {
  std::uint32_t old_pc = 0;
  std::uint32_t length = 0;  // in the original code
  std::uint8_t op = 0;
  bool widened = false;      // a 16-bit jump that became a 32-bit one
  std::uint32_t target = 0;  // index of the instruction a jump goes to
  std::uint32_t label = 0;   // new place: of the callouts in front of it, which is where jumps go
  std::uint32_t place = 0;   // new place: of the instruction itself
  std::uint32_t before = 0;  // callouts before it: offset and size in the bytes of callouts
  std::uint32_t before_size = 0;
  std::uint32_t after = 0;  // callouts after it
  std::uint32_t after_size = 0;
  std::uint32_t exit_size = 0;  // the part of `before` that is an exit's callout (the last bytes)
};

inline bool is_short_jump(std::uint8_t op) { return (op >= kIfeq && op <= kJsr) || op == kIfnull || op == kIfnonnull; }
inline bool is_wide_jump(std::uint8_t op) { return op == kGotoW || op == kJsrW; }
inline bool is_switch(std::uint8_t op) { return op == kTableswitch || op == kLookupswitch; }
// The instruction contains the distance to another instruction.
inline bool has_distance(std::uint8_t op) { return is_short_jump(op) || is_wide_jump(op) || is_switch(op); }
inline bool is_return(std::uint8_t op) { return op >= kIreturn && op <= kReturn; }

// The instructions of `code`, in order; `index_at[pc]` is the index of the instruction at pc, otherwise kNoInstruction,
// and the number of instructions at pc = code.size(). Targets of jumps are resolved. False if the code is malformed.
inline constexpr std::uint32_t kNoInstruction = 0xffffffff;
bool decode(ByteView code, std::vector<Instruction>& instructions, std::vector<std::uint32_t>& index_at);

}  // namespace jtrace::agent::classfile
