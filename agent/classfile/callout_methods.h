// The callouts that rewrite_class() can insert (Callout), and the methods that they call (CalloutMethod,
// callout_methods.def): for the rewriter, which writes the calls, and for the code that makes the classes with these
// methods. Constants; no JVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jtrace::agent::classfile {

// What is asked of rewrite_class(), in bits.
enum Callout : std::uint32_t {
  kCalloutEntry = 1,    // enter(I)V
  kCalloutExit = 2,     // exit(I)V before every return, leave(I)V where an exception leaves the method
  kCalloutThrow = 4,    // thrown(Ljava/lang/Object;II)V before athrow: the exception, its line, the number;
                        // unwound(Ljava/lang/Object;I)V instead of leave
  kCalloutCatch = 8,    // caught(Ljava/lang/Object;II)V, the same, at the start of every handler; with its line is what
                        // it does with the exception (handler_use.h)
  kCalloutLine = 16,    // line(II)V at every entry of the line table: the line, the number
  kCalloutArrays = 32,  // allocated(Ljava/lang/Object;I)V after newarray, anewarray, multianewarray
  kCalloutNew = 64,     // the same after the constructor call of every new that keeps its object
  kCalloutCount = 128,  // count(I)V at the start
  // With kCalloutEntry, in instance methods that are no constructors: received(Ljava/lang/Object;I)V with the receiver
  // instead of enter. (A constructor's receiver is not an object yet.)
  kCalloutReceiver = 256,
  // value(TII)V, T one of I J F D and java/lang/Object: the value, its position, the number
  kCalloutArguments = 512,  // for each argument at the start, positions from 0
  kCalloutResult = 1024,    // before every return of a value, position kResultValue
  // constructed(Ljava/lang/Object;I)V with the receiver of a constructor, after the call of another constructor of its
  // class or its superclass: from there on it is an object
  kCalloutConstructed = 2048,
  // With kCalloutArrays and kCalloutNew made(Ljava/lang/Object;II)V instead of allocated: the object, its site (below),
  // the number
  kCalloutSites = 4096,
  // called(I)V before and returned(I)V after each invokevirtual, invokespecial, invokestatic and invokeinterface, with
  // the number of what it names (CalleeNumbers); it is left by an exception where no returned comes
  kCalloutCalls = 8192,
  // Which show whose calls an exception has ended: handled(I)V at the start of every handler, unless kCalloutCatch;
  // begin(I)V at the start, unless kCalloutEntry; end(I)V at the places of exit and leave, unless kCalloutExit
  kCalloutFrames = 16384,
  // parking(JI)V before each call of Unsafe.park (is_park), with its time and the number, and parked()V after it
  kCalloutParks = 32768,
};

// The position of a returned value: after the last of 255 arguments (JVMS 4.3.3).
inline constexpr std::uint32_t kResultValue = 255;

enum class CalloutMethod : std::uint8_t {
#define CALLOUT_METHOD(id, name, descriptor, begins, options) id,
#include "agent/classfile/callout_methods.def"
#undef CALLOUT_METHOD
};

struct CalloutMethodText {
  const char* name;
  const char* descriptor;
  bool begins;            // called first in its frame
  std::uint32_t options;  // Callout bits, any of which makes code call it
};

inline constexpr CalloutMethodText kCalloutMethods[] = {
#define CALLOUT_METHOD(id, name, descriptor, begins, options) {name, descriptor, begins, options},
#include "agent/classfile/callout_methods.def"
#undef CALLOUT_METHOD
};
inline constexpr std::size_t kCalloutMethodCount = sizeof kCalloutMethods / sizeof kCalloutMethods[0];

constexpr const CalloutMethodText& text_of(CalloutMethod method) {
  return kCalloutMethods[static_cast<std::size_t>(method)];
}
// Whether a method of this name reports that its caller's frame is being entered.
constexpr bool begins_frame(std::string_view name) {
  for (const CalloutMethodText& each : kCalloutMethods)
    if (each.begins && name == each.name) return true;
  return false;
}

// Whether a class whose methods has(method) reports has every method that code calls if it was rewritten with
// any of the options.
template <class Has>
constexpr bool has_methods_of(std::uint32_t options, Has has) {
  for (std::size_t i = 0; i < kCalloutMethodCount; ++i)
    if ((kCalloutMethods[i].options & options) != 0 && !has(static_cast<CalloutMethod>(i))) return false;
  return true;
}
// The same for a class with these methods alone.
template <std::size_t kSize>
constexpr bool has_methods_of(std::uint32_t options, const CalloutMethod (&methods)[kSize]) {
  return has_methods_of(options, [&](CalloutMethod wanted) {
    for (const CalloutMethod each : methods)
      if (each == wanted) return true;
    return false;
  });
}

// The arguments of callouts.
inline constexpr std::string_view kTakesNumber = "(I)V";
inline constexpr std::string_view kTakesObject = "(Ljava/lang/Object;I)V";
inline constexpr std::string_view kTakesLine = "(II)V";
constexpr bool takes(CalloutMethod method, std::string_view arguments) {
  return arguments == text_of(method).descriptor;
}
// value() for a type as loads and returns number them: 0 int, 1 long, 2 float, 3 double, 4 reference (JVMS 6.5).
constexpr CalloutMethod value_method(std::uint32_t type) {
  return static_cast<CalloutMethod>(static_cast<std::uint32_t>(CalloutMethod::kValueInt) + type);
}
static_assert(value_method(4) == CalloutMethod::kValueObject);

}  // namespace jtrace::agent::classfile
