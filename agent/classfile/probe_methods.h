// The probes that rewrite_class() can insert (Probe), and the methods that they call (ProbeMethod, probe_methods.def):
// for the rewriter, which writes the calls, and for the code that makes the classes with these methods. Constants; no
// JVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jtrace::agent::classfile {

// What is asked of rewrite_class(), in bits.
enum Probe : std::uint32_t {
  kProbeEntry = 1,    // enter(I)V
  kProbeExit = 2,     // exit(I)V before every return, leave(I)V where an exception leaves the method
  kProbeThrow = 4,    // thrown(Ljava/lang/Object;II)V before athrow: the exception, its line, the number;
                      // unwound(Ljava/lang/Object;I)V instead of leave
  kProbeCatch = 8,    // caught(Ljava/lang/Object;II)V, the same, at the start of every handler
  kProbeLine = 16,    // line(II)V at every entry of the line table: the line, the number
  kProbeArrays = 32,  // allocated(Ljava/lang/Object;I)V after newarray, anewarray, multianewarray
  kProbeNew = 64,     // the same after the constructor call of every new that keeps its object
  kProbeCount = 128,  // count(I)V at the start
  // With kProbeEntry, in instance methods that are no constructors: received(Ljava/lang/Object;I)V with the receiver
  // instead of enter. (A constructor's receiver is not an object yet.)
  kProbeReceiver = 256,
  // value(TII)V, T one of I J F D and java/lang/Object: the value, its position, the number
  kProbeArguments = 512,  // for each argument at the start, positions from 0
  kProbeResult = 1024,    // before every return of a value, position kResultValue
  // constructed(Ljava/lang/Object;I)V with the receiver of a constructor, after the call of another constructor of its
  // class or its superclass: from there on it is an object
  kProbeConstructed = 2048,
  // With kProbeArrays and kProbeNew made(Ljava/lang/Object;II)V instead of allocated: the object, its site (below), the
  // number
  kProbeSites = 4096,
  // called(I)V before and returned(I)V after each invokevirtual, invokespecial, invokestatic and invokeinterface, with
  // the number of what it names (CalleeNumbers); it is left by an exception where no returned comes
  kProbeCalls = 8192,
  // Which show whose calls an exception has ended: handled(I)V at the start of every handler, unless kProbeCatch;
  // begin(I)V at the start, unless kProbeEntry; end(I)V at the places of exit and leave, unless kProbeExit
  kProbeFrames = 16384,
  // parking(JI)V before each call of Unsafe.park (is_park), with its time and the number, and parked()V after it
  kProbeParks = 32768,
};

// The position of a returned value: after the last of 255 arguments (JVMS 4.3.3).
inline constexpr std::uint32_t kResultValue = 255;

enum class ProbeMethod : std::uint8_t {
#define PROBE_METHOD(id, name, descriptor, begins, options) id,
#include "agent/classfile/probe_methods.def"
#undef PROBE_METHOD
};

struct ProbeMethodText {
  const char* name;
  const char* descriptor;
  bool begins;            // called first in its frame
  std::uint32_t options;  // Probe bits, any of which makes code call it
};

inline constexpr ProbeMethodText kProbeMethods[] = {
#define PROBE_METHOD(id, name, descriptor, begins, options) {name, descriptor, begins, options},
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

// Whether a class whose methods has(method) reports has every method that code calls if it was rewritten with
// any of the options.
template <class Has>
constexpr bool has_methods_of(std::uint32_t options, Has has) {
  for (std::size_t i = 0; i < kProbeMethodCount; ++i)
    if ((kProbeMethods[i].options & options) != 0 && !has(static_cast<ProbeMethod>(i))) return false;
  return true;
}
// The same for a class with these methods alone.
template <std::size_t kSize>
constexpr bool has_methods_of(std::uint32_t options, const ProbeMethod (&methods)[kSize]) {
  return has_methods_of(options, [&](ProbeMethod wanted) {
    for (const ProbeMethod each : methods)
      if (each == wanted) return true;
    return false;
  });
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
