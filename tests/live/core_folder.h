// The folder to which the kernel writes the core of a test's JVM: its working folder.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/unique_fd.h"
#include "tests/testlib/jvm_process.h"

namespace jtrace::test {

// Outlives the JVM's name for it.
class CoreFolder {
 public:
  explicit CoreFolder(const JvmProcess& jvm) : fd_(::open(jvm.in_working_folder("").c_str(), O_PATH | O_DIRECTORY)) {}
  // "" if there is none.
  std::string core() const {
    const std::string folder = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_.get());
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().filename().string().starts_with("core")) return entry.path();
    return {};
  }

 private:
  UniqueFd fd_;
};

// The reason why the kernel writes no core that a test could find; "" if it does.
inline std::string why_no_kernel_core() {
  const std::string pattern = read_file("/proc/sys/kernel/core_pattern").value_or("|");
  if (!pattern.starts_with("core")) return "cores are not written into the working folder here: " + pattern;
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  return ::setrlimit(RLIMIT_CORE, &limit) == 0 ? "" : "the size of cores is limited";
}

}  // namespace jtrace::test
