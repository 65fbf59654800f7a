// The conditions that must hold before a JVM is touched: reads only; sends nothing, makes nothing.
//
// SIGQUIT kills a process that does not catch it, and makes a JVM that does not accept attaching print a thread dump
// into its output. So it is sent only if libjvm.so is mapped, the handler is installed (SigCgt), the process runs (a
// stopped process would handle a pending SIGQUIT late), and the JVM reports that it accepts attaching
// (sun.rt.jvmCapabilities, otherwise its command line). Threads: any.
#pragma once

#include <chrono>
#include <string>

#include "attach/rendezvous.h"
#include "attach/waiter.h"
#include "base/result.h"
#include "target/jvm_discovery.h"
#include "target/process.h"

namespace jtrace::attach {

// All checks at once, for a caller that wants to know before it prepares anything: the caller's rights, the kind of
// process, whether it can be attached to. A JVM that is just starting passes. Errors: kNotAttachable (not a JVM,
// stopped, disabled, -Xrs without a socket), kPermission (another user's), kNotFound (it ended).
Result<target::Jvm> preflight(const target::Process& process);

// The cheap part, before each connection: the process runs, and belongs to a user whose ids can be taken. `status`: the
// caller decides how recent it must be.
Result<> check_state(const target::Process& process, const Result<target::ProcessStatus>& status);
Result<> check_user(const target::Process& process);

// Waits until SIGQUIT may be sent, which takes a while for a JVM that is just starting. Errors: those of preflight;
// kTimeout.
Result<> wait_until_signallable(const target::Process& process, const Waiter& waiter);

// The JVM's options as far as they can be known: command line, JDK_JAVA_OPTIONS, JAVA_TOOL_OPTIONS, _JAVA_OPTIONS, and
// java.rt.vmArgs. One string, for has_flag().
struct JvmOptions {
  std::vector<std::string> words;
  // The state set by the last -XX:+NAME or -XX:-NAME; `otherwise` if there is none.
  bool flag(std::string_view name, bool otherwise) const;
  bool has(std::string_view word) const;
};
JvmOptions options_of(const target::Process& process, const target::Jvm* jvm);

}  // namespace jtrace::attach
