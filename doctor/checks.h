// Checks what this machine and this user can do: each check tries what the commands do, on processes of its own, or
// reads facts about the target without touching it. Nothing of the target is stopped or changed, and nothing is
// left in it. Threads: one (the checks fork).
#pragma once

#include <string>
#include <vector>

#include "target/process.h"

namespace jtrace::doctor {

enum class Ability { kYes, kPartly, kNo };
std::string_view to_string(Ability ability);

struct Check {
  std::string name;  // of the check: "ptrace", "bpf"
  Ability ability = Ability::kYes;
  std::string finding;                // one line: what was tried, and the result
  std::vector<std::string> commands;  // the commands that fail, or work only in part, without it
  std::string help;                   // what would help; "" if nothing is missing
};

// For the machine, in the order of importance: user, attach, ptrace, process_vm_readv, perf events, bpf, uprobes, core
// files, other users' JVMs, ring memory, runtime folder.
std::vector<Check> check_machine();
// The checks of it that ask the kernel for tracing: ptrace, process_vm_readv, perf events, bpf, uprobes.
void check_kernel(std::vector<Check>& checks);
// For one JVM: attach, delivery, memory, stop, counters, probes, core.
std::vector<Check> check_jvm(const target::Process& process);

// Effective capabilities that jtrace can use, by name (capabilities(7)); "all" if none of them is missing.
std::string usable_capabilities();
// A capability of this process, by its number.
bool has_capability(int number);

}  // namespace jtrace::doctor
