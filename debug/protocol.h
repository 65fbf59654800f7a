// The numbers of the Java Debug Wire Protocol: errors, tags, kinds, bits of a class's state.
//
// Source: "Java Debug Wire Protocol Details" of JDK 8 to 25 (jdwp.spec). Constants only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jtrace::debug {

using Id = std::uint64_t;  // object, class, method, field, frame: 8 bytes each (IDSizes)

enum class JdwpError : std::uint16_t {
  kNone = 0,
  kInvalidThread = 10,
  kInvalidThreadGroup = 11,
  kInvalidObject = 20,
  kInvalidClass = 21,
  kInvalidMethod = 23,
  kInvalidField = 25,
  kInvalidFrame = 30,
  kOpaqueFrame = 32,
  kTypeMismatch = 34,
  kInvalidSlot = 35,
  kInvalidModule = 42,
  kNotImplemented = 99,
  kAbsentInformation = 101,
  kInvalidEventType = 102,
  kIllegalArgument = 103,
  kOutOfMemory = 110,
  kInternal = 113,
  kInvalidIndex = 503,
  kInvalidLength = 504,
  kInvalidString = 506,
  kInvalidClassLoader = 507,
  kInvalidArray = 508,
  kNativeMethod = 511,
};

enum class Tag : std::uint8_t {
  kByte = 'B',
  kChar = 'C',
  kDouble = 'D',
  kFloat = 'F',
  kInt = 'I',
  kLong = 'J',
  kObject = 'L',
  kShort = 'S',
  kVoid = 'V',
  kBoolean = 'Z',
  kArray = '[',
  kString = 's',
  kThread = 't',
  kThreadGroup = 'g',
  kClassLoader = 'l',
  kClassObject = 'c',
};
// Whether a value of that tag is an id; otherwise it is a number.
constexpr bool is_reference(Tag tag) {
  constexpr std::string_view kPrimitive = "BCDFIJSVZ";
  return kPrimitive.find(static_cast<char>(tag)) == kPrimitive.npos;
}
constexpr bool is_tag(std::uint8_t byte) {
  constexpr std::string_view kTags = "BCDFIJLSVZ[stglc";
  return kTags.find(static_cast<char>(byte)) != kTags.npos;
}
// Bytes of a primitive value; 0 for void.
constexpr std::size_t size_of(Tag tag) {
  switch (tag) {
    case Tag::kByte:
    case Tag::kBoolean: return 1;
    case Tag::kChar:
    case Tag::kShort: return 2;
    case Tag::kInt:
    case Tag::kFloat: return 4;
    case Tag::kVoid: return 0;
    default: return 8;
  }
}

enum class TypeKind : std::uint8_t { kClass = 1, kInterface = 2, kArray = 3 };

inline constexpr std::uint32_t kVerified = 1, kPrepared = 2, kInitialized = 4, kClassError = 8;  // class status

inline constexpr std::size_t kHeaderSize = 11;
inline constexpr std::uint8_t kReplyFlag = 0x80;
inline constexpr std::string_view kHandshake = "JDWP-Handshake";
inline constexpr std::uint8_t kVmStart = 90, kVmDeath = 99;  // kinds of events
inline constexpr std::uint8_t kSuspendAll = 2;
inline constexpr std::uint32_t kSyntheticBits = 0xf0000000;  // beside the modifiers of what the compiler made

}  // namespace jtrace::debug
