// The primitive types of Java, as the JVM numbers and abbreviates them (JVMS 4.3.2 and newarray). Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace jtrace {

struct PrimitiveType {
  char letter;                  // in descriptors
  std::uint8_t code;            // of newarray, isArray in objAlloc, and hprof's basic types
  std::string_view array_name;  // "int[]"

  constexpr std::string_view name() const { return array_name.substr(0, array_name.size() - 2); }
};

// By code.
inline constexpr PrimitiveType kPrimitiveTypes[] = {
    {'Z', 4, "boolean[]"}, {'C', 5, "char[]"},  {'F', 6, "float[]"}, {'D', 7, "double[]"},
    {'B', 8, "byte[]"},    {'S', 9, "short[]"}, {'I', 10, "int[]"},  {'J', 11, "long[]"},
};

// Null if there is none.
constexpr const PrimitiveType* primitive_of(char letter) {
  for (const PrimitiveType& each : kPrimitiveTypes)
    if (each.letter == letter) return &each;
  return nullptr;
}
constexpr const PrimitiveType* primitive_of_code(std::uint64_t code) {
  for (const PrimitiveType& each : kPrimitiveTypes)
    if (each.code == code) return &each;
  return nullptr;
}
constexpr const PrimitiveType* primitive_named(std::string_view name) {
  for (const PrimitiveType& each : kPrimitiveTypes)
    if (each.name() == name) return &each;
  return nullptr;
}

static_assert(primitive_of('I') == primitive_of_code(10) && primitive_named("long") == primitive_of('J'));

}  // namespace jtrace
