// FlagUsers: who else of us needs a flag that one of us has switched on in a JVM.
//
// Told by locks on the file of its libjvm.so: one byte for each flag of each JVM (fcntl(2), open file description
// locks, for which reading the file is enough). The kernel drops them with the last process that holds them, however it
// ends; nothing is written anywhere. Where the file system has no locks nobody else is seen. One thread; all but open()
// make system calls only, and may be called in the child of a fork.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "dtrace/libjvm.h"
#include "target/process.h"

namespace jtrace::dtrace {

class FlagUsers {
 public:
  // The same for all of us, whatever name and number they have for the JVM.
  static Result<FlagUsers> open(const Libjvm& libjvm, const target::Process& process);

  // The byte that stands for a flag of this JVM.
  std::uint64_t place_of(std::string_view flag) const;

  // Between enter() and leave() nobody else of us is. After a second it goes on all the same: the lock that this takes
  // may be held by anybody who reads the file.
  void enter() const;
  void leave() const;
  bool has_others(std::uint64_t place) const;
  void join(std::uint64_t place) const;
  void quit(std::uint64_t place) const;

 private:
  UniqueFd file_;
  std::uint64_t first_ = 0;
};

}  // namespace jtrace::dtrace
