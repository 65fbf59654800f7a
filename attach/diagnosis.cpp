#include "attach/diagnosis.h"

#include <fcntl.h>
#include <signal.h>

#include "attach/freezer.h"
#include "attach/unix_table.h"
#include "base/strings.h"

namespace jtrace::attach {
namespace {

// State letter of the JVM's "VM Thread", which runs operations at a safepoint; '?' if it is not found.
char vm_thread_state(const target::Process& process) {
  const auto threads = process.threads();
  if (!threads) return '?';
  for (pid_t thread : *threads) {
    const std::string task = "task/" + std::to_string(thread) + "/";
    const auto name = process.read_proc(task + "comm");
    if (!name || trimmed(*name) != "VM Thread") continue;
    const auto status = process.read_proc(task + "status");
    return status ? target::parse_status(*status).state : '?';
  }
  return '?';
}

void add(std::string& causes, std::string_view cause) {
  if (!causes.empty()) causes += ", ";
  causes += cause;
}

void add_listener(std::string& causes, const Rendezvous& rendezvous, bool connected) {
  const auto table = rendezvous.process().read_proc("net/unix");
  if (!table) return;
  const std::string_view path = rendezvous.socket_path();
  const ListenerState state = listener_state(parse_unix_table(*table), path.substr(path.rfind('/') + 1));
  if (state.clients > (connected ? 1 : 0))
    add(causes, "another client holds the listener, which serves one at a time (" + std::to_string(state.clients) +
                    " connected)");
  if (!state.listening) add(causes, "no process listens on " + std::string(path));
}

}  // namespace

std::string diagnose(const Rendezvous& rendezvous, bool connected) {
  const target::Process& process = rendezvous.process();
  const auto status = process.status();
  if (!status || status->has_exited() || process.has_exited()) return "the JVM has exited";
  std::string causes;
  if (status->is_stopped())
    add(causes,
        status->tracer != 0 ? "the JVM is stopped by tracer " + std::to_string(status->tracer) : "the JVM is stopped");
  if (is_frozen(process)) add(causes, "the JVM is frozen by its control group");
  if (status->has_pending(SIGQUIT)) add(causes, "SIGQUIT is still pending");
  add_listener(causes, rendezvous, connected);
  const char vm_thread = vm_thread_state(process);
  if (vm_thread == 'R' || vm_thread == 'D') add(causes, "its VM Thread is at work, probably at a safepoint");
  if (causes.empty()) add(causes, "no cause is visible from outside");
  return causes;
}

Error timeout_error(const Rendezvous& rendezvous, std::string_view what, std::chrono::milliseconds waited,
                    bool connected) {
  const std::string pid = std::to_string(rendezvous.process().pid());
  Error error{.category = ErrorCategory::kTimeout};
  error.text = std::string(what) + " within " + std::to_string(waited.count()) + " ms, process " + pid + ": " +
               diagnose(rendezvous, connected);
  error.help = "jtrace stack " + pid + " needs no cooperation; --timeout waits longer";
  return error;
}

}  // namespace jtrace::attach
