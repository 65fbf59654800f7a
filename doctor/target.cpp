// What can be done with one JVM. Only reads: no signal, no stop, no file.
#include <fcntl.h>
#include <unistd.h>

#include "attach/delivery.h"
#include "attach/preflight.h"
#include "base/file.h"
#include "base/strings.h"
#include "doctor/checks.h"
#include "dtrace/libjvm.h"
#include "perfdata/discovery.h"
#include "session/embedded_agent.h"
#include "target/jvm_discovery.h"
#include "target/process_memory.h"

namespace jtrace::doctor {
namespace {

std::string without_help(const Error& error) { return Error{error}.with_help("").message(); }

Check lacking(std::string name, const Error& error, std::vector<std::string> commands, std::string help = "") {
  return {std::move(name), Ability::kNo, without_help(error), std::move(commands),
          error.help.empty() ? std::move(help) : error.help};
}

void check_attach(std::vector<Check>& checks, const target::Process& process) {
  const std::vector<std::string> commands = {"jtrace attach", "jtrace cmd", "jtrace load", "jtrace jmx"};
  const auto jvm = attach::preflight(process);
  if (!jvm) {
    checks.push_back(lacking("attach", jvm.error(), commands));
    return;
  }
  Check check{.name = "attach", .finding = "JDK " + (jvm->version.empty() ? "?" : jvm->version) + " would take it"};
  const bool loads = attach::options_of(process, &*jvm).flag("EnableDynamicAgentLoading", true);
  if (!loads) {
    check.ability = Ability::kPartly;
    check.finding += ", but no agent (-XX:-EnableDynamicAgentLoading)";
    check.commands = {"jtrace attach", "jtrace load"};
    check.help = "start the JVM with -agentpath:libjtrace_agent.so, or without that flag";
  } else if (jvm->feature >= 21) {
    check.finding += "; it warns on its stderr of the agent, unless it has -XX:+EnableDynamicAgentLoading (JEP 451)";
  }
  checks.push_back(std::move(check));
}

void check_delivery(std::vector<Check>& checks, const target::Process& process) {
  const auto place = attach::choose_directory(process, session::embedded_agent().size(), true);
  if (place)
    checks.push_back({.name = "agent file", .finding = "into its " + (place->path.empty() ? "/" : place->path)});
  else checks.push_back(lacking("agent file", place.error(), {"jtrace attach", "jtrace load --deliver"}));
}

// Opening /proc/PID/mem needs the same right as stopping the process (ptrace(2), "Ptrace access mode checking").
void check_memory(std::vector<Check>& checks, const target::Process& process) {
  const std::vector<std::string> stops = {"jtrace stack", "jtrace profile", "jtrace top", "jtrace inspect"};
  const std::string help = "root or CAP_SYS_PTRACE; jtrace doctor without a PID says more";
  const auto libjvm = target::libjvm_mapping(process);
  if (!libjvm) {
    checks.push_back(lacking("memory", libjvm.error(), stops, help));
    return;
  }
  std::byte magic[4];
  const auto read = target::ProcessMemory(process).read_some(libjvm->start, magic);
  if (read) checks.push_back({.name = "memory", .finding = "readable while it runs"});
  else checks.push_back(lacking("memory", read.error(), stops, help));

  const auto status = process.status();
  const pid_t tracer = status ? status->tracer : 0;
  const auto mem = open_file_at(process.proc_fd(), "mem", O_RDONLY);
  if (tracer != 0)
    checks.push_back({"stop", Ability::kNo, "process " + std::to_string(tracer) + " traces it already", stops,
                      "end the debugger or strace that holds it; a process has one tracer"});
  else if (!mem) checks.push_back(lacking("stop", mem.error(), stops, help));
  else checks.push_back({.name = "stop", .finding = "allowed, for the milliseconds that a stack takes (not tried)"});
}

void check_counters(std::vector<Check>& checks, const target::Process& process) {
  const auto maps = process.maps();
  const std::vector<std::string> commands = {"hsperf"};
  const std::string help = "root, the JVM's own user, or CAP_SYS_PTRACE with CAP_DAC_READ_SEARCH";
  if (!maps) {
    checks.push_back(lacking("counters", maps.error(), commands, help));
    return;
  }
  const target::Mapping* mapping = perfdata::find_region_mapping(*maps);
  if (mapping == nullptr) {
    const auto address = perfdata::scan_private_region(process, *maps);
    if (address) checks.push_back({.name = "counters", .finding = "in its memory, without a file"});
    else checks.push_back(lacking("counters", perfdata::no_counters(process), commands));
    return;
  }
  const auto region = perfdata::open_mapped_region(process, *mapping);
  if (region) checks.push_back({.name = "counters", .finding = "in " + region->path()});
  else checks.push_back(lacking("counters", region.error(), commands, help));
}

void check_usdt(std::vector<Check>& checks, const target::Process& process) {
  const auto libjvm = dtrace::libjvm_of_process(process);
  if (!libjvm) {
    checks.push_back(lacking("probes", libjvm.error(), {"jtrace probes", "jtrace probe"}));
  } else if (libjvm->probes.empty()) {
    checks.push_back(lacking("probes", dtrace::no_probes(*libjvm), {"jtrace probe"}, "a JDK built with probes"));
  } else {
    checks.push_back({.name = "probes",
                      .finding = std::to_string(libjvm->probes.size()) + " in its libjvm.so; the machine must allow "
                                                                         "uprobes too"});
  }
}

void check_core_limit(std::vector<Check>& checks, const target::Process& process) {
  const std::string limits = process.read_proc("limits").value_or("");
  for (std::string_view line : split(limits, '\n')) {
    if (!line.starts_with("Max core file size")) continue;
    const std::string_view soft = trimmed(line.substr(25, 21));
    if (soft != "0")
      checks.push_back({.name = "core", .finding = "a crash may leave one (limit " + std::string(soft) + ")"});
    else
      checks.push_back({"core",
                        Ability::kPartly,
                        "a crash leaves none in a file (its limit is 0)",
                        {"jtrace stack CORE", "jtrace inspect CORE"},
                        "prlimit --core=unlimited --pid " + std::to_string(process.pid())});
  }
}

}  // namespace

std::vector<Check> check_jvm(const target::Process& process) {
  std::vector<Check> checks;
  check_attach(checks, process);
  check_delivery(checks, process);
  check_memory(checks, process);
  check_counters(checks, process);
  check_usdt(checks, process);
  check_core_limit(checks, process);
  return checks;
}

}  // namespace jtrace::doctor
