// jtrace probes: the USDT probes of a libjvm.so, of a file or of a running JVM.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/json_answer.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/selector.h"
#include "cli/summaries.h"
#include "dtrace/libjvm.h"

namespace jtrace::cli {
namespace {

struct ProbesArguments {
  std::string subject;
  std::vector<std::string> words;
  std::string format = "text";
  bool verbose = false;
};

bool names_a_file(const std::string& subject) {
  struct stat info {};
  if (parse_decimal<std::uint64_t>(subject)) return false;
  return subject.find('/') != std::string::npos || ::stat(subject.c_str(), &info) == 0;
}

std::string flag_text(const dtrace::Libjvm& libjvm, const dtrace::Probe& probe) {
  if (probe.description.flag.empty()) return "-";
  const auto enabled = libjvm.enabled(probe);
  return std::string(probe.description.flag) + (!enabled ? "" : *enabled ? "=on" : "=off");
}

std::string arguments_text(const dtrace::Probe& probe) {
  std::string text;
  for (const dtrace::ProbeArgument& argument : probe.description.arguments) {
    if (!text.empty()) text += ", ";
    text += argument.name;
    if (argument.kind != dtrace::ArgumentKind::kNumber) text += ":" + std::string(to_string(argument.kind));
  }
  return "(" + text + ")";
}

void write_sites(std::string& out, const dtrace::Probe& probe) {
  for (const dtrace::ProbeSite& site : probe.sites) {
    out += "    ";
    append_hex(out, site.address);
    if (site.semaphore_offset != 0) {
      out += " semaphore ";
      append_hex(out, site.semaphore_offset);
    }
    out += ' ' + site.arguments + '\n';
  }
}

void write_text(std::string& out, const dtrace::Libjvm& libjvm, const std::vector<const dtrace::Probe*>& probes,
                bool verbose) {
  std::size_t name_width = 5, flag_width = 4;
  for (const dtrace::Probe* probe : probes) {
    name_width = std::max(name_width, probe->full_name().size());
    flag_width = std::max(flag_width, flag_text(libjvm, *probe).size());
  }
  const auto cell = [&](std::string text, std::size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    out += text + "  ";
  };
  cell("PROBE", name_width);
  out += "SITES  ";
  cell("FLAG", flag_width);
  out += "ARGUMENTS\n";
  for (const dtrace::Probe* probe : probes) {
    cell(probe->full_name(), name_width);
    const std::string sites = std::to_string(probe->sites.size());
    out += std::string(5 - std::min<std::size_t>(5, sites.size()), ' ') + sites + "  ";
    cell(flag_text(libjvm, *probe), flag_width);
    out += arguments_text(*probe) + '\n';
    if (verbose) write_sites(out, *probe);
  }
}

void write_json_probe(JsonWriter& json, const dtrace::Libjvm& libjvm, const dtrace::Probe& probe) {
  json.begin_object().member("provider", probe.provider).member("name", probe.name).key("sites").begin_array();
  for (const dtrace::ProbeSite& site : probe.sites) {
    json.begin_object().member("address", site.address).member("offset", site.offset);
    json.member("semaphore", site.semaphore_offset).member("operands", site.arguments).end_object();
  }
  json.end_array().key("arguments").begin_array();
  for (const dtrace::ProbeArgument& argument : probe.description.arguments)
    json.begin_object().member("name", argument.name).member("type", to_string(argument.kind)).end_object();
  json.end_array().key("flag");
  if (probe.description.flag.empty()) json.null();
  else json.value(probe.description.flag);
  json.key("enabled");
  if (const auto enabled = libjvm.enabled(probe)) json.value(*enabled);
  else json.null();
  json.end_object();
}

void write_json(std::string& out, const dtrace::Libjvm& libjvm, const std::vector<const dtrace::Probe*>& probes,
                pid_t pid) {
  JsonWriter json(out);
  begin_answer(json, "probes").begin_object();
  if (pid != 0) json.member("pid", pid);
  json.member("path", libjvm.path).member("buildId", libjvm.build_id).end_object();
  std::vector<std::string> missing;
  if (libjvm.skipped != 0) missing.push_back(std::to_string(libjvm.skipped) + " notes that cannot be read");
  if (libjvm.flag_error) missing.push_back(libjvm.flag_error->message());
  write_missing(json, missing).key("data").begin_array();
  for (const dtrace::Probe* probe : probes) write_json_probe(json, libjvm, *probe);
  json.end_array().end_object();
  out += '\n';
}

Result<std::vector<const dtrace::Probe*>> chosen(const dtrace::Libjvm& libjvm, const std::vector<std::string>& words) {
  std::vector<const dtrace::Probe*> probes;
  if (words.empty())
    for (const dtrace::Probe& probe : libjvm.probes) probes.push_back(&probe);
  for (const std::string& word : words) {
    JTRACE_ASSIGN_OR_RETURN(const auto some, dtrace::select_probes(libjvm.probes, word));
    for (const dtrace::Probe* probe : some)
      if (std::find(probes.begin(), probes.end(), probe) == probes.end()) probes.push_back(probe);
  }
  return probes;
}

Result<ExitStatus> list_probes(const ProbesArguments& arguments) {
  dtrace::Libjvm libjvm;
  pid_t pid = 0;
  if (names_a_file(arguments.subject)) {
    JTRACE_ASSIGN_OR_RETURN(libjvm, dtrace::libjvm_of_file(arguments.subject));
  } else {
    JTRACE_ASSIGN_OR_RETURN(const target::Process process, open_selected(arguments.subject, Takes::kJvmOrFile));
    pid = process.pid();
    JTRACE_ASSIGN_OR_RETURN(libjvm, dtrace::libjvm_of_process(process));
  }
  if (libjvm.probes.empty()) return fail(dtrace::no_probes(libjvm));
  JTRACE_ASSIGN_OR_RETURN(const auto probes, chosen(libjvm, arguments.words));
  std::string out;
  if (arguments.format == "json") write_json(out, libjvm, probes, pid);
  else write_text(out, libjvm, probes, arguments.verbose);
  std::fwrite(out.data(), 1, out.size(), stdout);
  if (libjvm.flag_error) log_warning(libjvm.flag_error->message());
  if (libjvm.skipped == 0) return ExitStatus::kOk;
  log_warning(counted(libjvm.skipped, "note") + " of " + libjvm.path + " cannot be read");
  return ExitStatus::kPartial;
}

}  // namespace

void add_probes_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ProbesArguments>();
  CLI::App* command = app.add_subcommand("probes", summary_of("probes"));
  command->add_option("PID|LIBJVM", arguments->subject, "a JVM (pid or part of its main class), or a libjvm.so")
      ->required();
  command->add_option("PROBE", arguments->words, "only these: names, globs, providers (hotspot:gc__*, hotspot_jni)");
  command->add_option("--format", arguments->format, "text or json")->check(one_of({"text", "json"}));
  command->add_flag("-v,--verbose", arguments->verbose, "each site with its address and operands");
  command->footer("Example: jtrace probes 4711 'hotspot:gc__*'");
  command->callback([arguments, &status] {
    const auto result = list_probes(*arguments);
    status = result ? *result : report(result.error());
  });
}

}  // namespace jtrace::cli
