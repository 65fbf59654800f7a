// Kinds of constant pool entries: JVMS table 4.4-A; from 100 on the VM's own kinds (JVM_CONSTANT_* of constantTag.hpp).
#pragma once

#include <cstdint>

namespace jtrace::coreinspect {

enum ConstantTag : std::uint8_t {
  kUtf8 = 1,
  kInteger = 3,
  kFloat = 4,
  kLong = 5,
  kDouble = 6,
  kClass = 7,
  kString = 8,
  kField = 9,
  kMethod = 10,
  kInterfaceMethod = 11,
  kNameAndType = 12,
  kMethodHandle = 15,
  kMethodType = 16,
  kDynamic = 17,
  kInvokeDynamic = 18,
  kUnresolvedClass = 100,
  kUnresolvedClassInError = 103,
  kMethodHandleInError = 104,
  kMethodTypeInError = 105,
  kDynamicInError = 106,
};

}  // namespace jtrace::coreinspect
