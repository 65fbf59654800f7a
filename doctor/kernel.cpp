// What the kernel permits, tried on two child processes and on this program.
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/file.h"
#include "base/strings.h"
#include "doctor/checks.h"
#include "dtrace/bpf.h"
#include "dtrace/bpf_assembler.h"
#include "target/memory_map.h"

namespace jtrace::doctor {
namespace {

// Never called: a place in this program's file for a uprobe of its own.
extern "C" [[gnu::noinline, gnu::used]] void jtrace_doctor_probed() { asm volatile("nop"); }

// What one child may do to the other: two processes of one user, neither started by the other (Yama lets a parent trace
// its children).
struct Trial {
  int ptrace = 0, vm_read = 0;  // errno, 0 for success
};

Trial try_on(pid_t victim, const char* word) {
  Trial trial;
  char copy[8] = {};
  const iovec here{.iov_base = copy, .iov_len = sizeof copy};
  const iovec there{.iov_base = const_cast<char*>(word), .iov_len = sizeof copy};
  if (::process_vm_readv(victim, &here, 1, &there, 1, 0) != sizeof copy) trial.vm_read = errno;
  if (::ptrace(PTRACE_SEIZE, victim, nullptr, nullptr) != 0) trial.ptrace = errno;
  else if (::ptrace(PTRACE_INTERRUPT, victim, nullptr, nullptr) != 0) trial.ptrace = errno;
  else if (::waitpid(victim, nullptr, __WALL) != victim) trial.ptrace = errno;
  return trial;  // the victim is released when the child ends
}

// Both children end with this function in every case.
Trial try_children() {
  static const char word[8] = "doctor";
  int pipe[2];
  Trial trial{.ptrace = EIO, .vm_read = EIO};
  if (::pipe(pipe) != 0) return trial;
  const pid_t victim = ::fork();
  if (victim == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(pipe[0]);
    ::close(pipe[1]);
    for (;;) ::pause();
  }
  const pid_t tracer = victim > 0 ? ::fork() : -1;
  if (tracer == 0) {
    const Trial mine = try_on(victim, word);
    ::_exit(::write(pipe[1], &mine, sizeof mine) == sizeof mine ? 0 : 1);
  }
  ::close(pipe[1]);
  if (tracer > 0 && ::read(pipe[0], &trial, sizeof trial) != sizeof trial) trial = {.ptrace = EIO, .vm_read = EIO};
  ::close(pipe[0]);
  for (const pid_t child : {tracer, victim}) {
    if (child <= 0) continue;
    if (child == victim) ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  return trial;
}

std::string yama() {
  const std::string scope = read_setting("/proc/sys/kernel/yama/ptrace_scope");
  return scope.empty() ? "no Yama" : "kernel.yama.ptrace_scope is " + scope;
}

void check_tracing(std::vector<Check>& checks) {
  const Trial trial = try_children();
  const std::string help =
      "root or CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE), or sysctl kernel.yama.ptrace_scope=0; a seccomp "
      "profile may forbid it as well";
  Check stop{.name = "ptrace", .finding = "a process of jtrace's own was stopped and continued (" + yama() + ")"};
  if (trial.ptrace != 0)
    stop = {"ptrace",
            Ability::kNo,
            std::string("stopping another process of this user: ") + std::strerror(trial.ptrace) + " (" + yama() + ")",
            {"jtrace stack", "jtrace profile --wall", "jtrace top", "jtrace inspect threads"},
            help};
  checks.push_back(std::move(stop));
  Check read{.name = "process_vm_readv", .finding = "the memory of another process of jtrace's own was read"};
  if (trial.vm_read != 0)
    read = {"process_vm_readv",
            Ability::kNo,
            std::string("reading the memory of another process of this user: ") + std::strerror(trial.vm_read),
            {"jtrace inspect", "jtrace stack", "jtrace profile", "jtrace top", "hsperf (JVMs without a file)"},
            help};
  checks.push_back(std::move(read));
}

// A clock that interrupts, as sampling uses it: on this process, then on every process of one processor.
int try_perf(pid_t pid, int cpu) {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_CPU_CLOCK;
  event.sample_period = 1'000'000'000;
  event.disabled = event.exclude_kernel = 1;
  const UniqueFd fd(static_cast<int>(::syscall(SYS_perf_event_open, &event, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  return fd ? 0 : errno;
}

void check_perf(std::vector<Check>& checks) {
  const std::string paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid");
  const std::string scope = "kernel.perf_event_paranoid is " + (paranoid.empty() ? "not there" : paranoid);
  const int own = try_perf(0, -1), all = try_perf(-1, 0);
  Check check{.name = "perf events", .finding = "of this user's processes and of the whole machine (" + scope + ")"};
  if (own != 0 || all != 0) {
    check.ability = own == 0 ? Ability::kPartly : Ability::kNo;
    check.finding = (own == 0 ? "of this user's processes; of the whole machine: " : "of this user's processes: ") +
                    std::string(std::strerror(own == 0 ? all : own)) + " (" + scope + ")";
    check.commands = {"jtrace probe (where BPF is not allowed)"};
    if (own != 0) check.commands.push_back("jtrace profile (without stopping threads)");
    check.help = "root or CAP_PERFMON, or sysctl kernel.perf_event_paranoid=" + std::string(own == 0 ? "-1" : "2");
  }
  checks.push_back(std::move(check));
}

// Offset of the function in this program's file, for a uprobe; 0 if it cannot be found.
std::uint64_t own_offset() {
  const auto maps = read_file("/proc/self/maps");
  const auto at = reinterpret_cast<std::uint64_t>(&jtrace_doctor_probed);
  for (const target::Mapping& mapping : target::parse_memory_map(maps.value_or("")))
    if (at >= mapping.start && at < mapping.end) return at - mapping.start + mapping.offset;
  return 0;
}

Result<std::vector<bpf_insn>> smallest_program() {
  dtrace::BpfAssembler code;
  code.move(dtrace::BpfRegister::kR0, 0);
  code.exit();
  return code.finish();
}

Check failed(std::string name, const Error& error, std::string help) {
  return {std::move(name), Ability::kNo, Error{error}.with_help("").message(), {"jtrace probe"}, std::move(help)};
}

// Links one site in this process: as Linux 6.6 and later do it, otherwise in the older way.
Result<> try_uprobe(std::span<const bpf_insn> code) {
  const dtrace::UprobePlace place{.offset = own_offset()};
  if (place.offset == 0) return fail(ErrorCategory::kRefused, "jtrace's own file is not found in /proc/self/maps");
  if (const auto multi = dtrace::load_uprobe_program(code, true))
    if (dtrace::attach_uprobes(multi->get(), "/proc/self/exe", {&place, 1}, ::getpid())) return {};
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd program, dtrace::load_uprobe_program(code, false));
  JTRACE_ASSIGN_OR_RETURN(const auto link, dtrace::attach_uprobe(program.get(), "/proc/self/exe", place, ::getpid()));
  return {};
}

void check_probes(std::vector<Check>& checks) {
  const auto code = smallest_program();
  const auto map = dtrace::create_bpf_map({.type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .entries = 1},
                                          "jtrace_doctor");
  const std::string help = dtrace::privilege_help() + "; in a container seccomp must allow bpf(2) as well";
  if (!map || !code) {
    const Error& error = map ? code.error() : map.error();
    checks.push_back(failed("bpf", error, help));
    checks.push_back({"uprobes",
                      Ability::kNo,
                      "not tried: it takes BPF, or perf events of the whole machine",
                      {"jtrace probe"},
                      help});
    return;
  }
  checks.push_back({.name = "bpf", .finding = "a map could be made"});
  if (const auto tried = try_uprobe(*code); !tried) checks.push_back(failed("uprobes", tried.error(), help));
  else checks.push_back({.name = "uprobes", .finding = "one was set in this program and taken out again"});
}

}  // namespace

void check_kernel(std::vector<Check>& checks) {
  check_tracing(checks);
  check_perf(checks);
  check_probes(checks);
}

}  // namespace jtrace::doctor
