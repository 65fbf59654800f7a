// Which processes are HotSpot JVMs, and what they are.
//
// A JVM is a process with an executable mapping of a file named libjvm.so: nothing has to be written by the JVM, so
// that it is found in containers, with -XX:-UsePerfData and under any launcher. What only the JVM knows (its version,
// its main class) comes from its hsperfdata where that is mapped, else from the JDK's `release` file and the command
// line. Threads: any. The facts are of the moment of the call.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "target/process.h"

namespace jtrace::target {

struct Jvm {
  pid_t pid = 0;
  pid_t nspid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string user;        // by our /etc/passwd; the number where it is not there
  std::string version;     // "17.0.15", "1.8.0_504"; "" where unknown
  int feature = 0;         // 17, 8; 0 where unknown
  std::string main_class;  // main class, module/class, jar or source file; "" where unknown
  std::string libjvm;      // as the process sees it; "" where another user's process hides its mappings
  std::string container;   // with pod; "" outside containers
  std::map<std::string, std::string> perf_strings;  // hsperfdata_strings(); empty where there are none

  // '1' or '0' in front of sun.rt.jvmCapabilities (runtimeService.cpp): whether DisableAttachMechanism is off.
  std::optional<bool> attach_enabled() const;
};

// The first (lowest) mapping of libjvm.so: its address is the load base. Errors: kNotAttachable, with what the process
// is.
Result<Mapping> libjvm_mapping(const Process& process);
// The same out of mappings that were read already; null where there is none.
const Mapping* find_libjvm(const std::vector<Mapping>& mappings);

// Errors: as libjvm_mapping.
Result<Jvm> examine_jvm(const Process& process);

struct Discovery {
  std::vector<Jvm> jvms;  // by pid
  int hidden = 0;         // processes whose mappings we may not read and that are not called java
};
Discovery discover_jvms();

// Name of a user by /etc/passwd (no NSS: works in a static program); the number where it is not there.
std::string user_name(uid_t uid);

}  // namespace jtrace::target
