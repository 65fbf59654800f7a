// FlagSwitch: switches on the flags that probes need in a JVM that runs, one byte each, and off again.
//
// What was changed is put back by a small guard process: it waits for the end of this one, however that comes (also by
// SIGKILL), writes the old bytes and ends. Only bytes that were 0 are written, and only where the JVM's own tables say
// that the flag is. Nothing is put back into a JVM that ended or became another program. One thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "dtrace/libjvm.h"

namespace jtrace::dtrace {

// What switching on does not reach in that JVM; one line each, "" for nothing. kRefused: it would have no effect.
// Source: tried on 11 to 27. From 24 on (JDK-8335946) the interpreter decides when it is made; before, it looks at each
// call. Compiled code has its probe, or has not, from when it was compiled, in all of them.
Result<std::vector<std::string>> limits_of_switching(const Libjvm& libjvm, const std::vector<std::string>& flags);

class FlagSwitch {
 public:
  // `flags`: names out of libjvm.flags. Errors: kPermission; kSystem; kRefused, a flag that this JVM does not have.
  static Result<FlagSwitch> turn_on(const target::Process& process, const Libjvm& libjvm,
                                    const std::vector<std::string>& flags);
  FlagSwitch(FlagSwitch&& other) noexcept = default;
  FlagSwitch& operator=(FlagSwitch&& other) noexcept;
  ~FlagSwitch() { restore(); }

  // Waits until the flags are off again; nothing where that was done before.
  void restore();

 private:
  struct Byte {
    target::Address address = 0;
  };
  FlagSwitch() = default;
  Result<> start_guard();

  UniqueFd memory_;  // /proc/PID/mem
  std::vector<Byte> bytes_;
  UniqueFd gate_;  // its end ends the guard's waiting
  pid_t guard_ = -1;
};

}  // namespace jtrace::dtrace
