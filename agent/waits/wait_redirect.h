// redirect_waits: a class file in which the calls that make a thread wait go to a helper class, which says so and makes
// them itself. A call becomes an invokestatic of the same name whose first argument is the receiver; no instruction
// moves, so that every table stays as it is. Pure functions over bytes; no JVM.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "agent/classfile/class_file.h"

namespace jtrace::agent {

// One call of the JDK's own, and the classes whose calls of it are redirected.
struct WaitCall {
  enum Kind : std::uint8_t { kSleep, kPark };
  enum Time : std::uint8_t {
    kNone,      // it waits until it is woken
    kNanos,     // its last argument
    kDeadline,  // its last argument: ms since the epoch
    kEither,    // its last two: whether the second is a deadline (else ns, 0: none)
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

// All that JDK 8 to 27 have. A platform thread's sleep is a native method and not among them.
std::span<const WaitCall> wait_calls();

// `out`: the class with the calls of these kinds redirected to `helper`. False where it has none, or cannot be read.
bool redirect_waits(const classfile::ClassFile& klass, std::string_view helper, bool sleeps, bool parks,
                    classfile::Bytes& out);

}  // namespace jtrace::agent
