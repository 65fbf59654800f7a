// OwnGroup: a control group that this test makes for a JVM, directly below the mount of its hierarchy. Its JVMs are
// moved to the root of the hierarchy, and the group removed, when the object is destroyed. One thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::test {

class OwnGroup {
 public:
  // `controller`: "cpu", "memory", "pids". Errors: no hierarchy has it, or this user may make no group there.
  static Result<OwnGroup> make(std::string_view controller, pid_t pid);
  OwnGroup(OwnGroup&& other) noexcept;
  OwnGroup& operator=(OwnGroup&&) = delete;
  ~OwnGroup();

  // Another JVM.
  Result<> add(pid_t pid);
  // The last part of its path.
  std::string name() const { return folder_.substr(folder_.rfind('/') + 1); }
  // As a multiple of what it uses now.
  Result<> set_memory_limit(double times_used) const;
  Result<> set_processors(double count) const;
  Result<> set_task_limit(int count) const;
  Result<int> tasks() const;

 private:
  OwnGroup(int version, std::string folder) : version_(version), folder_(std::move(folder)) {}

  int version_;
  std::string folder_;  // "" after a move
  std::vector<pid_t> pids_;
};

}  // namespace jtrace::test
