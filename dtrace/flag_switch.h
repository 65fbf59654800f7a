// FlagSwitch: switches on the flags that probes need in a JVM that runs, one byte each, and off again.
//
// What was changed is put back by a small guard process: it waits for the end of this one, however that comes (also by
// SIGKILL), writes the old bytes and ends. Only bytes that were 0 are written, and only where the JVM's own tables say
// that the flag is. A flag that another of us has switched on is shared: the last one switches it off. Nothing is put
// back into a JVM that ended or became another program. One thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "dtrace/flag_users.h"
#include "dtrace/libjvm.h"

namespace jtrace::dtrace {

// What switching on does not reach in that JVM; one line each, "" for nothing. kRefused: it would have no effect.
// Source: tried on 11 to 27. From 24 on (JDK-8335946) the interpreter decides when it is made; before, it looks at each
// call. Compiled code has its probe, or has not, from when it was compiled, in all of them.
Result<std::vector<std::string>> limits_of_switching(const Libjvm& libjvm, const std::vector<std::string>& flags);

class FlagSwitch {
 public:
  // `flags`: names out of libjvm.flags. Those that are off are switched on, if `turn_on`. Errors: kPermission; kSystem;
  // kRefused, a flag that this JVM does not have.
  static Result<FlagSwitch> take(const target::Process& process, const Libjvm& libjvm,
                                 const std::vector<std::string>& flags, bool turn_on);
  FlagSwitch(FlagSwitch&& other) noexcept = default;
  FlagSwitch& operator=(FlagSwitch&& other) noexcept;
  ~FlagSwitch() { restore(); }

  // What it has switched on, or shares.
  const std::vector<std::string>& flags() const { return flags_; }
  // Waits until the flags are off again; nothing where that was done before.
  void restore();

 private:
  struct Byte {
    target::Address address = 0;
    std::uint64_t place = 0;  // in FlagUsers
  };
  explicit FlagSwitch(FlagUsers users) : users_(std::move(users)) {}
  Result<> start_guard();
  Result<> join(const Byte& byte, bool turn_on, const std::string& name);
  Result<> write_ones() const;
  void put_back() const;

  UniqueFd memory_;  // /proc/PID/mem
  FlagUsers users_;
  std::vector<Byte> bytes_;
  std::vector<std::string> flags_;
  UniqueFd gate_;  // its end ends the guard's waiting
  pid_t guard_ = -1;
};

}  // namespace jtrace::dtrace
