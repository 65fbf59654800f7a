// What a handler does with the exception that it has caught: whether it drops it. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/classfile/method_code.h"

namespace jtrace::agent::classfile {

enum class HandlerUse : std::uint8_t {
  kUnknown,  // the method has too many handlers to look at them all
  kDrops,    // nothing of the method can read it, unless to throw it on as it is
  kUses,
};

// The handler's line and use as one argument of caught(): fits in sipush.
inline constexpr std::int32_t kUnknownUse = -0x8000;  // without a line
constexpr std::int32_t caught_argument(std::uint32_t line, HandlerUse use) {
  if (use == HandlerUse::kUnknown) return kUnknownUse;
  const auto known = static_cast<std::int32_t>(line < 0x7fff ? line : 0);
  return use == HandlerUse::kDrops ? -1 - known : known;
}
constexpr HandlerUse use_of_caught(std::int32_t argument) {
  if (argument == kUnknownUse) return HandlerUse::kUnknown;
  return argument < 0 ? HandlerUse::kDrops : HandlerUse::kUses;
}
constexpr std::uint32_t line_of_caught(std::int32_t argument) {
  if (argument == kUnknownUse) return 0;
  return static_cast<std::uint32_t>(argument < 0 ? -1 - argument : argument);
}

// Looks at the handlers of one method after the other, and keeps its tables for the next. One thread.
class HandlerUses {
 public:
  void begin_method() { work_ = 0; }
  // `handler`: index of its first instruction.
  HandlerUse of(const MethodCode& code, std::uint32_t handler);

 private:
  // Steps for one method; a step is an instruction, or a handler that may cover it and was not reached yet.
  static constexpr std::uint64_t kMostWork = 20'000'000;

  HandlerUse of_local(const MethodCode& code, std::uint32_t from, std::uint32_t local);
  void reach(std::uint32_t instruction);

  std::uint64_t work_ = 0;
  std::vector<std::uint8_t> seen_;
  std::vector<std::uint32_t> open_;
  std::vector<const MethodCode::Handler*> left_;  // not reached yet
};

}  // namespace jtrace::agent::classfile
