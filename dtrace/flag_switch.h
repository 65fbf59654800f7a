// FlagSwitch: switches the flags that probes need on in a running JVM, one byte each, and off again.
//
// A small guard process restores the changes: it waits for the end of this process, also by SIGKILL, writes the old
// bytes and ends. Only bytes that were 0 are written, and only at the addresses that the JVM's own tables give. A flag
// that another jtrace has switched on is shared: the last one switches it off. Nothing is written into a JVM that ended
// or executed another program. One thread.
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

// What switching the flags on does not reach in that JVM; one line each, "" for nothing. kRefused: it would have no
// effect. Source: tried on JDK 11 to 27. From 24 on (JDK-8335946) the interpreter decides when it is generated; before,
// at each call. In all of them, compiled code has its probes or not from its compilation on.
Result<std::vector<std::string>> limits_of_switching(const Libjvm& libjvm, const std::vector<std::string>& flags);

class FlagSwitch {
 public:
  // `flags`: names from libjvm.flags. Switches on those that are off, if `turn_on`. Errors: kPermission; kSystem;
  // kRefused: this JVM does not have the flag.
  static Result<FlagSwitch> take(const target::Process& process, const Libjvm& libjvm,
                                 const std::vector<std::string>& flags, bool turn_on);
  FlagSwitch(FlagSwitch&& other) noexcept = default;
  FlagSwitch& operator=(FlagSwitch&& other) noexcept;
  ~FlagSwitch() { restore(); }

  // The flags that it has switched on, or shares.
  const std::vector<std::string>& flags() const { return flags_; }
  // Waits until the flags are off again; does nothing if that was done before.
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
  UniqueFd gate_;  // closing it ends the guard's wait
  pid_t guard_ = -1;
};

}  // namespace jtrace::dtrace
