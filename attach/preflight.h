// What must be true before a JVM is touched: looks only; sends nothing, makes nothing.
//
// SIGQUIT kills a process that does not catch it, and makes a JVM that will not attach print a thread dump into its
// output. So it is sent only where the libjvm.so is mapped, the handler stands (SigCgt), the process runs (not stopped:
// a pending SIGQUIT would fire late), and the JVM says that it attaches (sun.rt.jvmCapabilities, else its command
// line). Threads: any.
#pragma once

#include <chrono>
#include <string>

#include "attach/rendezvous.h"
#include "attach/waiter.h"
#include "base/result.h"
#include "target/jvm_discovery.h"
#include "target/process.h"

namespace jtrace::attach {

// All checks at once, for a caller that wants to know before it prepares anything: who we are, what it is, whether it
// can be attached to. A JVM that is just starting passes. Errors: kNotAttachable (not a JVM, stopped, disabled, -Xrs
// without a socket), kPermission (another user's), kNotFound (it ended).
Result<target::Jvm> preflight(const target::Process& process);

// Running, and of a user we can be. The cheap part, before each connection.
// `status` is what the caller read of it: how fresh it must be is the caller's to know.
Result<> check_state(const target::Process& process, const Result<target::ProcessStatus>& status);
Result<> check_user(const target::Process& process);

// Until SIGQUIT may be sent: waits for the handler of a JVM that is just starting. Errors as preflight; kTimeout.
Result<> wait_until_signallable(const target::Process& process, const Waiter& waiter);

// The JVM's options as far as they can be known: command line, JDK_JAVA_OPTIONS, JAVA_TOOL_OPTIONS, _JAVA_OPTIONS, and
// java.rt.vmArgs. One string, for has_flag().
struct JvmOptions {
  std::vector<std::string> words;
  // The state of the last -XX:+NAME or -XX:-NAME; `otherwise` where there is none.
  bool flag(std::string_view name, bool otherwise) const;
  bool has(std::string_view word) const;
};
JvmOptions options_of(const target::Process& process, const target::Jvm* jvm);

}  // namespace jtrace::attach
