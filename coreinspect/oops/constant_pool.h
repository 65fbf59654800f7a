// ConstantPoolModel: entries of a constant pool as text, and the mapping from the operands of rewritten instructions to
// entries.
//
// ConstantPool, ConstantPoolCache (constantPool.hpp, cpCache.hpp). Up to JDK 20 one array has the entries of fields,
// methods and dynamic calls; later JDKs (21 to 23, one after the other) have an array for each. Threads: one at a time.
#pragma once

#include <string>

#include "coreinspect/oops/class_model.h"

namespace jtrace::coreinspect {

class ConstantPoolModel {
 public:
  explicit ConstantPoolModel(const ClassModel& classes) : classes_(classes), vm_(classes.vm()) {}

  // "java/lang/String", "java/lang/Object.<init>:()V", "\"text\"", "42"; "#7" if the entry has no text.
  std::string text(Address pool, std::uint32_t index) const;
  // Whether the instructions of its class were rewritten to cache indices, which happens when the class is linked.
  bool is_rewritten(Address pool) const { return cache(pool).has_value(); }
  // Constant pool indices of the operands of rewritten instructions.
  Result<std::uint32_t> of_field(Address pool, std::uint32_t operand) const;
  Result<std::uint32_t> of_method(Address pool, std::uint32_t operand) const;
  Result<std::uint32_t> of_dynamic_call(Address pool, std::uint32_t operand) const;  // all four bytes
  Result<std::uint32_t> of_resolved_reference(Address pool, std::uint32_t operand) const;
  const ClassModel& classes() const { return classes_; }

 private:
  Result<std::uint8_t> tag(Address pool, std::uint32_t index) const;
  Result<Address> slot(Address pool, std::uint32_t index) const;
  Result<std::string> entry_text(Address pool, std::uint32_t index) const;
  Result<std::string> class_text(Address pool, std::uint32_t index, std::uint8_t tag) const;
  Result<std::string> pair_text(Address pool, std::uint32_t index) const;
  Result<Address> cache(Address pool) const;
  Result<std::uint32_t> of_cache_entry(Address pool, std::uint32_t index) const;
  Result<std::uint32_t> of_entry_array(Address pool, std::string_view array_field, std::string_view type,
                                       std::uint32_t index) const;

  const ClassModel& classes_;
  const Vm& vm_;
};

}  // namespace jtrace::coreinspect
