// JvmDeath: how a traced JVM has ended, and the evidence that it left: its signal, if the kernel reports it, its hs_err
// file, a core, what the agent was doing.
//
// Made while the JVM lives, because its folder and its root can only be read then. Borrows the process. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "target/process.h"
#include "trace/record/layout.h"

namespace jtrace::session {

class JvmDeath {
 public:
  explicit JvmDeath(const target::Process& process);

  // "was killed by SIGSEGV; /srv/hs_err_pid7.log: SIGSEGV in V [libjvm.so+0x1]  f(); core: /srv/core; the agent ...".
  // For a JVM that has exited without VMDeath; never empty.
  std::string describe(trace::record::AgentWork work) const;

 private:
  struct Report {
    std::string path;  // in this process's view
    std::string text;  // its beginning
  };
  std::optional<int> wait_status() const;
  std::optional<Report> find_report() const;
  std::optional<Report> read_fresh(const std::string& name) const;
  UniqueFd open_fresh(const std::string& name) const;
  std::string shown(const std::string& name) const;
  std::string core(std::optional<int> status) const;

  const target::Process& process_;
  UniqueFd folder_;          // its current directory
  std::string folder_name_;  // "" if it is not known
  std::string error_file_;   // -XX:ErrorFile, "": none was given
  std::int64_t since_;       // s since 1970: older files are another JVM's
};

// "SIGSEGV in V [libjvm.so+0xbb7b8e]  Method::f()", from the beginning of an hs_err file; "" if it has no such lines.
std::string cause_in_report(std::string_view text);
// Whether the thread that failed was in a callout or in the agent.
bool names_agent(std::string_view report);
// "was killed by SIGKILL", "exited with status 3", "was killed".
std::string end_of(std::optional<int> wait_status);
// Expands the value of -XX:ErrorFile and core_pattern(5): %p is the pid, %e the name; others stay.
std::string expanded(std::string_view pattern, pid_t pid, std::string_view name);

}  // namespace jtrace::session
