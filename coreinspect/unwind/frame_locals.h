// FrameLocals: values of the local variables of Java frames, slot by slot.
//
// Interpreted frames: MachineRules and templateInterpreterGenerator of 8 to 27. A slot has no type of its own: the
// caller names it, by the LocalVariableTable of the method. What is not known to be right is not given: then the
// error's text says why. Borrows the models. Threads: one at a time.
#pragma once

#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

class FrameLocals {
 public:
  explicit FrameLocals(const ObjectModel& objects) : objects_(objects), vm_(objects.classes().vm()) {}

  // `type`: the first letter of the variable's descriptor. The low bytes of the result are the value; of a reference
  // the address, 0 for null. Of long and double `slot` is the first of the two.
  Result<std::uint64_t> value(const Frame& frame, std::uint32_t slot, char type) const;

 private:
  Result<std::uint64_t> interpreted(const Frame& frame, std::uint32_t slot, char type) const;
  Result<Address> locals_of(const Frame& frame) const;

  const ObjectModel& objects_;
  const Vm& vm_;
};

}  // namespace jtrace::coreinspect
