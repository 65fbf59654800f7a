// Bytecodes of a method as in the class file: HotSpot rewrites instructions at run time, and this turns them back.
//
// Opcodes: JVMS 6.5; the VM's own from 203 on: bytecodes.hpp of 8 to 27, each with the Java instruction that it
// replaced. Borrows the model. Threads: one at a time. Errors: those of the memory; kMalformed if the code cannot be
// decoded exactly to its end.
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

// The bytes as in the class file. An operand that cannot be turned back is an error.
Result<std::vector<std::uint8_t>> original_bytecodes(const ConstantPoolModel& pools, const JavaMethod& method);

Result<std::vector<Instruction>> disassemble(const ConstantPoolModel& pools, const JavaMethod& method);

}  // namespace jtrace::coreinspect
