// What this machine and this user can do: each check tries what the commands
// do, on processes of its own, or reads facts of the target without touching
// it. Nothing is stopped, sent or left behind. Threads: one (the checks fork).
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
  std::string finding;                // one line: what was tried and what came of it
  std::vector<std::string> commands;  // what fails, or works in part only, without it
  std::string help;                   // what would help; "" where nothing is missing
};

// Of the machine, in the order of their worth: user, attach, ptrace, process_vm_readv, perf events, bpf, uprobes, core
// files, other users' JVMs, ring memory, runtime folder.
std::vector<Check> check_machine();
// The part of it that asks the kernel for tracing: ptrace, process_vm_readv, perf events, bpf, uprobes.
void check_kernel(std::vector<Check>& checks);
// Of one JVM: attach, delivery, memory, stop, counters, probes, core.
std::vector<Check> check_jvm(const target::Process& process);

// Effective capabilities that jtrace can use, by name (capabilities(7)); "all" where none of these is missing.
std::string usable_capabilities();
// By its number, of this process.
bool has_capability(int number);

}  // namespace jtrace::doctor
