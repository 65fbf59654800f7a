// FlagUsers: the other jtrace processes that need a flag which one of them has switched on in a JVM.
//
// They find each other by locks on the file of its libjvm.so: one byte for each flag of each JVM (fcntl(2), open file
// description locks, for which read permission is enough). The kernel releases them with the last process that holds
// them, in whatever way it ends; nothing is written. If the file system has no locks, other processes are not found.
// One thread; all functions except open() only make system calls, and may be called in the child of a fork.
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
  // Independent of the name and number by which a process knows the JVM.
  static Result<FlagUsers> open(const Libjvm& libjvm, const target::Process& process);

  // The byte that represents a flag of this JVM.
  std::uint64_t place_of(std::string_view flag) const;

  // Between enter() and leave() no other jtrace is in the same section. After a second it continues anyway: any reader
  // of the file may hold the lock.
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
