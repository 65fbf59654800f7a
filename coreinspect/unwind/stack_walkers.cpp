#include "coreinspect/unwind/stack_walkers.h"

namespace jtrace::coreinspect {

StackWalkers::StackWalkers(const MethodModel& methods, const ObjectModel& objects, const CodeCache& code)
    : code_(code),
      java_(methods, objects, code),
      names_(objects.classes().vm().target()),
      native_(objects.classes().vm().target(), objects.classes().vm().memory(),
              [&code](Address pc) { return code.contains(pc); }),
      mixed_(java_, native_, names_, code) {}

Walk StackWalkers::java_frames(const JavaThread& thread, const target::Registers* registers) const {
  const bool in_leaf =
      registers != nullptr && thread.last_sp == 0 && thread.is_in_java() && !code_.contains(registers->pc());
  return in_leaf ? mixed_.walk(thread, *registers) : java_.walk(thread, registers);
}

}  // namespace jtrace::coreinspect
