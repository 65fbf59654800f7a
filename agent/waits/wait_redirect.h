// redirect_sleeps, redirect_parks: rewrite a class file so that calls that make a thread wait are reported to a helper
// class. Pure functions over bytes; no JVM.
//
// Waits of virtual threads may end by an exception, so the helper makes the call itself and reports it. The call
// becomes an invokestatic of the same name whose first argument is the receiver; no instruction moves. The helper's
// frame is on the stack while the thread waits; stack traces leave it out (wait_class.h). Waits of platform threads
// (Unsafe.park) stay in place, between two calls of the helper (classfile::kCalloutParks), because JDK 8 to 17 show
// hidden frames to other threads.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "agent/classfile/class_file.h"

namespace jtrace::agent {

// A call in the JDK that is redirected, and the class that makes it.
struct WaitCall {
  enum Kind : std::uint8_t { kSleep, kPark };
  enum Time : std::uint8_t {
    kNone,      // it waits until it is woken
    kNanos,     // its last argument
    kDeadline,  // its last argument: ms since the epoch
  };
  std::string_view host;
  std::uint8_t op;
  std::string_view owner;
  std::string_view name;
  std::string_view descriptor;
  Kind kind;
  Time time;

  // Of the helper's method.
  std::string_view static_descriptor;
};

inline constexpr char kThreadClass[] = "java/lang/Thread";
inline constexpr char kLockSupportClass[] = "java/util/concurrent/locks/LockSupport";

// All such calls of JDK 19 to 27.
std::span<const WaitCall> wait_calls();

// `out`: the class, in which its calls of a kind go to `helper`. False if it has none, or cannot be parsed.
bool redirect_sleeps(const classfile::ClassFile& klass, std::string_view helper, classfile::Bytes& out);
bool redirect_parks(const classfile::ClassFile& klass, std::string_view helper, classfile::Bytes& out);

}  // namespace jtrace::agent
