// Bytecodes of a method as the class file had them: HotSpot rewrites instructions while they run, this turns them back.
//
// Opcodes: JVMS 6.5; the VM's own from 203 on: bytecodes.hpp of 8 to 27, where each stands for the Java instruction it
// replaced. Borrows the model. Threads: one at a time. Errors: those of the memory; kMalformed where the code cannot be
// taken apart to its exact end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coreinspect/oops/constant_pool.h"
#include "coreinspect/runtime/method_model.h"

namespace jtrace::coreinspect {

struct Instruction {
  int bci = 0;
  std::string_view name;  // "invokevirtual"
  std::string operands;   // "java/lang/Object.<init>:()V", "12" (a target, a local, a number); "" for none
};

// The bytes as the class file had them. An operand that cannot be turned back is an error.
Result<std::vector<std::uint8_t>> original_bytecodes(const ConstantPoolModel& pools, const JavaMethod& method);

Result<std::vector<Instruction>> disassemble(const ConstantPoolModel& pools, const JavaMethod& method);

}  // namespace jtrace::coreinspect
