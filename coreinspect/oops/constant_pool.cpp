#include "coreinspect/oops/constant_pool.h"

#include <cstdio>

#include "base/strings.h"
#include "coreinspect/oops/constant_tag.h"

namespace jtrace::coreinspect {
Result<std::uint8_t> ConstantPoolModel::tag(Address pool, std::uint32_t index) const {
  JTRACE_ASSIGN_OR_RETURN(const Address tags, vm_.read_pointer(pool, "ConstantPool", "_tags"));
  JTRACE_ASSIGN_OR_RETURN(const auto length, classes_.array_length(tags));
  JTRACE_ASSIGN_OR_RETURN(const Address data, classes_.array_data(tags, "Array<u1>"));
  if (index == 0 || index >= length)
    return fail(malformed("constant " + std::to_string(index) + " is not there", pool));
  return vm_.memory().read<std::uint8_t>(data + index);
}

Result<Address> ConstantPoolModel::slot(Address pool, std::uint32_t index) const {
  const auto size = vm_.types().size_of("ConstantPool");
  if (!size) return fail(Vm::no_field("ConstantPool", "(size)"));
  return pool + *size + Address{index} * 8;
}

std::string ConstantPoolModel::text(Address pool, std::uint32_t index) const {
  auto text = entry_text(pool, index);
  return text ? std::move(*text) : "#" + std::to_string(index);
}

Result<std::string> ConstantPoolModel::entry_text(Address pool, std::uint32_t index) const {
  JTRACE_ASSIGN_OR_RETURN(const auto kind, tag(pool, index));
  JTRACE_ASSIGN_OR_RETURN(const Address at, slot(pool, index));
  JTRACE_ASSIGN_OR_RETURN(const auto raw, vm_.memory().read<std::uint64_t>(at));
  const auto number = [&]<class T>(T) { return vm_.memory().read<T>(at); };
  switch (kind) {
    case kInteger: return std::to_string(static_cast<std::int32_t>(raw));
    case kLong: return std::to_string(static_cast<std::int64_t>(raw)) + "L";
    case kFloat: {
      JTRACE_ASSIGN_OR_RETURN(const float value, number(float{}));
      return std::to_string(value) + "f";
    }
    case kDouble: {
      JTRACE_ASSIGN_OR_RETURN(const double value, number(double{}));
      return std::to_string(value);
    }
    case kUtf8:
    case kString: {  // a string constant keeps the symbol that it is made from
      JTRACE_ASSIGN_OR_RETURN(const std::string symbol, classes_.symbol(raw));
      return kind == kString ? "\"" + utf8_from_modified(symbol) + "\"" : utf8_from_modified(symbol);
    }
    case kClass:
    case kUnresolvedClass:
    case kUnresolvedClassInError: return class_text(pool, index, kind);
    case kField:
    case kMethod:
    case kInterfaceMethod: {
      JTRACE_ASSIGN_OR_RETURN(const std::string member,
                              pair_text(pool, static_cast<std::uint32_t>(raw >> 16 & 0xffff)));
      return text(pool, static_cast<std::uint32_t>(raw & 0xffff)) + "." + member;
    }
    case kNameAndType: return pair_text(pool, index);
    case kDynamic:
    case kInvokeDynamic: {
      JTRACE_ASSIGN_OR_RETURN(const std::string member,
                              pair_text(pool, static_cast<std::uint32_t>(raw >> 16 & 0xffff)));
      return "dynamic " + member;
    }
    default: return "#" + std::to_string(index);
  }
}

// JDK 8: a Klass or, if not resolved, a Symbol with its lowest bit set. Later: the name's index in the upper half, the
// index of the resolved class in the lower.
Result<std::string> ConstantPoolModel::class_text(Address pool, std::uint32_t index, std::uint8_t kind) const {
  JTRACE_ASSIGN_OR_RETURN(const Address at, slot(pool, index));
  JTRACE_ASSIGN_OR_RETURN(const auto raw, vm_.memory().read<std::uint64_t>(at));
  if (!vm_.types().has("ConstantPool", "_resolved_klasses")) {
    JTRACE_ASSIGN_OR_RETURN(const std::string name,
                            kind == kClass ? classes_.internal_name(raw) : classes_.symbol(raw & ~Address{1}));
    return utf8_from_modified(name);
  }
  JTRACE_ASSIGN_OR_RETURN(const std::string name,
                          classes_.constant_symbol(pool, static_cast<std::uint32_t>(raw >> 16 & 0xffff)));
  return utf8_from_modified(name);
}

// "name:signature" of a NameAndType entry.
Result<std::string> ConstantPoolModel::pair_text(Address pool, std::uint32_t index) const {
  JTRACE_ASSIGN_OR_RETURN(const auto kind, tag(pool, index));
  if (kind != kNameAndType) return fail(malformed("no name and type", pool));
  JTRACE_ASSIGN_OR_RETURN(const Address at, slot(pool, index));
  JTRACE_ASSIGN_OR_RETURN(const auto raw, vm_.memory().read<std::uint32_t>(at));
  JTRACE_ASSIGN_OR_RETURN(const std::string name, classes_.constant_symbol(pool, raw & 0xffff));
  JTRACE_ASSIGN_OR_RETURN(const std::string type, classes_.constant_symbol(pool, raw >> 16));
  return utf8_from_modified(name) + ":" + utf8_from_modified(type);
}

Result<Address> ConstantPoolModel::cache(Address pool) const {
  JTRACE_ASSIGN_OR_RETURN(const Address cache, vm_.read_pointer(pool, "ConstantPool", "_cache"));
  if (cache == 0) return fail(malformed("the constant pool has no cache: its class is not linked", pool));
  return cache;
}

// ConstantPoolCacheEntry: the low half of _indices.
Result<std::uint32_t> ConstantPoolModel::of_cache_entry(Address pool, std::uint32_t index) const {
  JTRACE_ASSIGN_OR_RETURN(const Address at, cache(pool));
  const auto head = vm_.types().size_of("ConstantPoolCache");
  const auto size = vm_.types().size_of("ConstantPoolCacheEntry");
  if (!head || !size) return fail(Vm::no_field("ConstantPoolCacheEntry", "(size)"));
  JTRACE_ASSIGN_OR_RETURN(const auto length, vm_.read_field<std::int32_t>(at, "ConstantPoolCache", "_length"));
  if (static_cast<std::int64_t>(index) >= length) return fail(malformed("no such entry of the cache", at));
  JTRACE_ASSIGN_OR_RETURN(const auto indices, vm_.read_field<std::uint64_t>(at + *head + Address{index} * *size,
                                                                            "ConstantPoolCacheEntry", "_indices"));
  return static_cast<std::uint32_t>(indices & 0xffff);
}

Result<std::uint32_t> ConstantPoolModel::of_entry_array(Address pool, std::string_view array_field,
                                                        std::string_view type, std::uint32_t index) const {
  JTRACE_ASSIGN_OR_RETURN(const Address at, cache(pool));
  JTRACE_ASSIGN_OR_RETURN(const Address array, vm_.read_pointer(at, "ConstantPoolCache", array_field));
  JTRACE_ASSIGN_OR_RETURN(const auto length, classes_.array_length(array));
  const auto size = vm_.types().size_of(type);
  if (!size || index >= length) return fail(malformed("no such entry of the cache", array));
  JTRACE_ASSIGN_OR_RETURN(const Address data, classes_.array_data(array, "Array<" + std::string(type) + ">"));
  JTRACE_ASSIGN_OR_RETURN(const auto found,
                          vm_.read_field<std::uint16_t>(data + Address{index} * *size, type, "_cpool_index"));
  return std::uint32_t{found};
}

Result<std::uint32_t> ConstantPoolModel::of_field(Address pool, std::uint32_t operand) const {
  return vm_.types().has("ConstantPoolCache", "_resolved_field_entries")
             ? of_entry_array(pool, "_resolved_field_entries", "ResolvedFieldEntry", operand)
             : of_cache_entry(pool, operand);
}

Result<std::uint32_t> ConstantPoolModel::of_method(Address pool, std::uint32_t operand) const {
  return vm_.types().has("ConstantPoolCache", "_resolved_method_entries")
             ? of_entry_array(pool, "_resolved_method_entries", "ResolvedMethodEntry", operand)
             : of_cache_entry(pool, operand);
}

// Stored as the complement up to JDK 23, unchanged later.
Result<std::uint32_t> ConstantPoolModel::of_dynamic_call(Address pool, std::uint32_t operand) const {
  const std::uint32_t index = operand > 0x7fffffff ? ~operand : operand;
  return vm_.types().has("ConstantPoolCache", "_resolved_indy_entries")
             ? of_entry_array(pool, "_resolved_indy_entries", "ResolvedIndyEntry", index)
             : of_cache_entry(pool, index);
}

Result<std::uint32_t> ConstantPoolModel::of_resolved_reference(Address pool, std::uint32_t operand) const {
  Address map = 0;
  if (vm_.types().has("ConstantPool", "_reference_map")) {
    JTRACE_ASSIGN_OR_RETURN(map, vm_.read_pointer(pool, "ConstantPool", "_reference_map"));
  } else {
    JTRACE_ASSIGN_OR_RETURN(const Address at, cache(pool));
    JTRACE_ASSIGN_OR_RETURN(map, vm_.read_pointer(at, "ConstantPoolCache", "_reference_map"));
  }
  JTRACE_ASSIGN_OR_RETURN(const auto length, classes_.array_length(map));
  JTRACE_ASSIGN_OR_RETURN(const Address data, classes_.array_data(map, "Array<u2>"));
  if (operand >= length) return fail(malformed("no such resolved reference", map));
  JTRACE_ASSIGN_OR_RETURN(const auto index, vm_.memory().read<std::uint16_t>(data + Address{operand} * 2));
  return std::uint32_t{index};
}

}  // namespace jtrace::coreinspect
