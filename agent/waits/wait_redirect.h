// redirect_waits: a class file that tells a helper class of the calls that make a thread wait. Pure functions over
// bytes; no JVM.
//
// Those of virtual threads, which may end by an exception, go to the helper, which says so and makes them itself: a
// call becomes an invokestatic of the same name whose first argument is the receiver; no instruction moves. Its frame
// stands while the thread waits, and stack traces leave it out (wait_class.h). Those of platform threads, Unsafe.park,
// stay where they are between two calls of the helper (classfile::kProbeParks): JDK 8 to 17 show hidden frames to other
// threads.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "agent/classfile/class_file.h"

namespace jtrace::agent {

// One call of the JDK's own that is redirected, and the class that makes it.
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

inline constexpr std::string_view kThreadClass = "java/lang/Thread";
inline constexpr std::string_view kLockSupportClass = "java/util/concurrent/locks/LockSupport";

// All that JDK 19 to 27 have.
std::span<const WaitCall> wait_calls();

// `out`: the class with the calls of these kinds told to `helper`. False where it has none, or cannot be read.
bool redirect_waits(const classfile::ClassFile& klass, std::string_view helper, bool sleeps, bool parks,
                    classfile::Bytes& out);

}  // namespace jtrace::agent
