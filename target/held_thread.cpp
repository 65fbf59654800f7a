#include "target/held_thread.h"

#include <unistd.h>

#include <vector>

#include "base/file.h"
#include "base/strings.h"
#include "target/hex_word.h"

namespace jtrace::target {
namespace {

// The kernel names the tracer's thread (proc_pid_status(5), TracerPid), which need not be the first one.
bool is_thread_of_ours(pid_t tid) {
  return tid == ::getpid() || (tid != 0 && ::access(("/proc/self/task/" + std::to_string(tid)).c_str(), F_OK) == 0);
}

std::string task_file(pid_t tid, const char* name) { return "task/" + std::to_string(tid) + "/" + name; }

}  // namespace

std::string describe_tracer(const HeldThread& thread) {
  if (thread.tracer == 0) return "another tracer, of a pid namespace that cannot be seen from here";
  return "another tracer, process " + std::to_string(thread.tracer) +
         (thread.tracer_name.empty() ? "" : " (" + thread.tracer_name + ")");
}

std::optional<HeldThread> find_holder(const Process& process, pid_t tid) {
  const auto text = process.read_proc(task_file(tid, "status"));
  if (!text) return std::nullopt;
  const ProcessStatus status = parse_status(*text);
  if (status.has_exited() || is_thread_of_ours(status.tracer)) return std::nullopt;
  if (status.tracer == 0 && status.state != 't') return std::nullopt;
  HeldThread held{.tid = tid, .name = status.name, .tracer = status.tracer, .stands = status.is_stopped()};
  if (!status.nspid.empty()) held.nstid = status.nspid.back();
  if (status.tracer != 0)
    if (const auto comm = read_file("/proc/" + std::to_string(status.tracer) + "/comm"))
      held.tracer_name = trimmed(*comm);
  return held;
}

// "NUMBER ARGUMENT... SP PC" in a system call, "-1 SP PC" outside, "running".
std::optional<Registers> parse_syscall(std::string_view text) {
  const auto words = split(trimmed(text), ' ');
  if (words.size() != 3 && words.size() != 9) return std::nullopt;
  const auto sp = parse_hex_word(words[words.size() - 2]), pc = parse_hex_word(words.back());
  if (!sp || !pc || *sp == 0) return std::nullopt;
  return Registers::at(kNativeIsa, *pc, *sp);
}

std::optional<Registers> registers_if_blocked(const Process& process, pid_t tid) {
  const auto text = process.read_proc(task_file(tid, "syscall"));
  return text ? parse_syscall(*text) : std::nullopt;
}

}  // namespace jtrace::target
