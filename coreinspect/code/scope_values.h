// ScopeVariables: what the debug information of compiled code says of a frame's local variables at one place: where
// each value is, or what it is, and the objects that the compiler has taken apart (scalar replacement).
//
// ScopeValue, ObjectValue, ObjectMergeValue of debugInfo.hpp, Location of location.hpp, JDK 8 to 27. Values, without a
// target. Errors: kMalformed for what is not such a description.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace jtrace::coreinspect {

struct ScopeValue {
  enum class Kind : std::uint8_t {
    kNone,      // no value here: dead, or the unused half of a long or double
    kStack,     // `number` bytes from the frame's unextended sp
    kRegister,  // `number` is a VMReg
    kInt,       // the constant `number`; of a float its bits
    kWide,      // the same, a long or the bits of a double
    kOop,       // `number` is an index into the oops of the code (CodeCache::constant_oop); 0: null
    kObject,    // `number` is the id of an object that was taken apart
  };
  // Of what is in the stack or a register.
  enum class Type : std::uint8_t { kOther, kNormal, kOop, kNarrowOop, kLong, kDouble, kIntInLong, kFloatInDouble };
  Kind kind = Kind::kNone;
  Type type = Type::kOther;
  std::int64_t number = 0;
  bool operator==(const ScopeValue&) const = default;
};

// An object that is not in the heap: its fields, or elements, are where `values` says. Which field each is:
// frame_locals.
struct ScopeObject {
  std::uint32_t id = 0;
  ScopeValue klass;  // a constant: the java.lang.Class
  std::vector<ScopeValue> values;
  // One of several objects, by the path that was taken: `selector` -1 is the one at `pointer`, others that of `values`.
  bool merge = false;
  ScopeValue selector, pointer;
};

struct ScopeVariables {
  std::vector<ScopeValue> locals;  // by slot
  std::vector<ScopeObject> objects;
  const ScopeObject* object(std::uint32_t id) const;
};

// What differs between versions.
struct ScopeRules {
  bool excludes_zero = false;      // Unsigned5Reader
  bool objects_have_root = false;  // JdkQuirks
  // Numbers of Location::Type.
  std::optional<std::int64_t> normal, oop, narrow_oop, lng, dbl, int_in_long, float_in_dbl;
};

// `locals`, `objects`: the streams from there on; they may be longer. Empty: there are none.
Result<ScopeVariables> decode_scope_variables(std::span<const std::byte> locals, std::span<const std::byte> objects,
                                              const ScopeRules& rules);

}  // namespace jtrace::coreinspect
