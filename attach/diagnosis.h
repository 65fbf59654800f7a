// Why a JVM does not answer, as far as this is visible from outside. Only reads. Threads: any.
#pragma once

#include <string>

#include "attach/rendezvous.h"
#include "base/result.h"
#include "target/process.h"

namespace jtrace::attach {

// Causes in words: stopped, exited, SIGQUIT pending, the listener busy with another client, the VM Thread at work
// (a safepoint), the socket absent. Never empty.
std::string diagnose(const Rendezvous& rendezvous, bool connected);

// kTimeout: what was waited for, how long, diagnose(), and `jtrace stack PID`, which needs no help of the JVM.
Error timeout_error(const Rendezvous& rendezvous, std::string_view what, std::chrono::milliseconds waited,
                    bool connected);

}  // namespace jtrace::attach
