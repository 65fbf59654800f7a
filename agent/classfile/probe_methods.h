// ProbeMethod: the methods that rewritten code calls (probe_methods.def), for the rewriter, which writes the calls, and
// for the code that makes the classes with these methods. Constants; no JVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jtrace::agent::classfile {

enum class ProbeMethod : std::uint8_t {
#define PROBE_METHOD(id, name, descriptor, begins) id,
#include "agent/classfile/probe_methods.def"
#undef PROBE_METHOD
};

struct ProbeMethodText {
  const char* name;
  const char* descriptor;
  bool begins;  // called first in its frame
};

inline constexpr ProbeMethodText kProbeMethods[] = {
#define PROBE_METHOD(id, name, descriptor, begins) {name, descriptor, begins},
#include "agent/classfile/probe_methods.def"
#undef PROBE_METHOD
};
inline constexpr std::size_t kProbeMethodCount = sizeof kProbeMethods / sizeof kProbeMethods[0];

constexpr const ProbeMethodText& text_of(ProbeMethod method) { return kProbeMethods[static_cast<std::size_t>(method)]; }
// Whether a method of this name reports that its caller's frame is being entered.
constexpr bool begins_frame(std::string_view name) {
  for (const ProbeMethodText& each : kProbeMethods)
    if (each.begins && name == each.name) return true;
  return false;
}

// The arguments of probes.
inline constexpr std::string_view kTakesNumber = "(I)V";
inline constexpr std::string_view kTakesObject = "(Ljava/lang/Object;I)V";
inline constexpr std::string_view kTakesLine = "(II)V";
constexpr bool takes(ProbeMethod method, std::string_view arguments) { return arguments == text_of(method).descriptor; }
// value() for a type as loads and returns number them: 0 int, 1 long, 2 float, 3 double, 4 reference (JVMS 6.5).
constexpr ProbeMethod value_method(std::uint32_t type) {
  return static_cast<ProbeMethod>(static_cast<std::uint32_t>(ProbeMethod::kValueInt) + type);
}
static_assert(value_method(4) == ProbeMethod::kValueObject);

}  // namespace jtrace::agent::classfile
