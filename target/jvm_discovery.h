// Finds the HotSpot JVMs among the processes, and their facts.
//
// A JVM is a process with an executable mapping of a file named libjvm.so. This does not depend on files that the JVM
// writes, so JVMs in containers, with -XX:-UsePerfData and under any launcher are found. Facts that only the JVM knows
// (its version, its main class) come from its hsperfdata if that is mapped, otherwise from the JDK's `release` file and
// the command line. Threads: any. The facts are those of the moment of the call.
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
  std::string user;        // from this machine's /etc/passwd; the number if it is not there
  std::string version;     // "17.0.15", "1.8.0_504"; "" if unknown
  int feature = 0;         // 17, 8; 0 if unknown
  std::string main_class;  // main class, module/class, jar or source file; "" if unknown
  std::string libjvm;      // as the process sees it; "" if another user's process hides its mappings
  std::string container;   // with its pod; "" outside containers
  std::map<std::string, std::string> perf_strings;  // hsperfdata_strings(); empty if there are none

  // From the first character of sun.rt.jvmCapabilities, '1' or '0' (runtimeService.cpp): true if DisableAttachMechanism
  // is off.
  std::optional<bool> attach_enabled() const;
};

// The first (lowest) mapping of libjvm.so: its address is the load base. Errors: kNotAttachable; the message says what
// the process is.
Result<Mapping> libjvm_mapping(const Process& process);
// The same for mappings that were read already; null if there is none.
const Mapping* find_libjvm(const std::vector<Mapping>& mappings);

// Whether it has one, or hides its mappings (another user's) and is named java.
bool looks_like_jvm(const Process& process);

// Errors: as libjvm_mapping.
Result<Jvm> examine_jvm(const Process& process);

struct Discovery {
  std::vector<Jvm> jvms;  // by pid
  int hidden = 0;         // processes whose mappings may not be read and that are not named java
};
Discovery discover_jvms();

// A user's name from /etc/passwd (without NSS, so that it works in a static program); the number if it is not there.
std::string user_name(uid_t uid);

}  // namespace jtrace::target
