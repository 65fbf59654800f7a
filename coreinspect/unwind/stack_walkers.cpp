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
  const bool in_java = thread.last_sp == 0 && thread.is_in_java();
  const bool in_leaf = in_java && registers != nullptr && !code_.contains(registers->pc());
  Walk walk = in_leaf ? mixed_.walk(thread, *registers) : java_.walk(thread, registers);
  std::erase_if(walk.frames, [](const Frame& frame) { return frame.kind == FrameKind::kNative; });
  if (in_java && !walk.incomplete() && walk.frames.empty())
    walk.stopped = registers != nullptr ? "no frame of Java is found, though it runs in Java"
                                        : "it runs in Java, and its registers are not known";
  return walk;
}

}  // namespace jtrace::coreinspect
