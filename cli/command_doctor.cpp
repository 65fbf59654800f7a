// jtrace doctor: what this machine and this user can do, and what each missing capability blocks.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/joined.h"
#include "base/json_answer.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/selector.h"
#include "cli/summaries.h"
#include "doctor/checks.h"
#include "target/jvm_discovery.h"

namespace jtrace::cli {
namespace {

struct DoctorArguments {
  std::string jvm;
  std::string format = "text";
};

void write_row(std::string& out, std::string_view ability, std::string name, std::string_view text) {
  name.resize(std::max<std::size_t>(name.size(), 18), ' ');
  out.append("  ").append(ability).append(8 - ability.size(), ' ').append(name).append(text) += '\n';
}

void write_text(std::string& out, std::string_view title, const std::vector<doctor::Check>& checks) {
  out.append(title) += '\n';
  for (const doctor::Check& check : checks) {
    write_row(out, to_string(check.ability), check.name, check.finding);
    if (!check.commands.empty()) write_row(out, "", "  it blocks", joined(check.commands));
    if (!check.help.empty()) write_row(out, "", "  would help", check.help);
  }
}

void write_checks(JsonWriter& json, std::string_view scope, const std::vector<doctor::Check>& checks) {
  for (const doctor::Check& check : checks) {
    json.begin_object().member("scope", scope).member("name", check.name);
    json.member("ability", to_string(check.ability)).member("finding", check.finding);
    json.key("blocks").begin_array();
    for (const std::string& command : check.commands) json.value(command);
    json.end_array().member("help", check.help).end_object();
  }
}

void write_json(std::string& out, const target::Process* process, const std::vector<doctor::Check>& machine,
                const std::vector<doctor::Check>& jvm) {
  JsonWriter json(out);
  begin_answer(json, "doctor")
      .begin_object()
      .member("kind", process ? "process" : "machine")
      .member("bootId", target::boot_id());
  if (process) json.member("pid", process->pid()).member("nspid", process->nspid());
  write_missing(json.end_object(), {}).key("data").begin_array();
  write_checks(json, "machine", machine);
  write_checks(json, "jvm", jvm);
  json.end_array().end_object();
  out += '\n';
}

ExitStatus run(const DoctorArguments& arguments) {
  std::unique_ptr<target::Process> process;
  if (!arguments.jvm.empty()) {
    auto opened = open_selected(arguments.jvm);
    if (!opened) return report(opened.error());
    process = std::make_unique<target::Process>(std::move(*opened));
  }
  const std::vector<doctor::Check> machine = doctor::check_machine();
  const std::vector<doctor::Check> jvm = process ? doctor::check_jvm(*process) : std::vector<doctor::Check>();
  std::string out;
  if (arguments.format == "json") {
    write_json(out, process.get(), machine, jvm);
  } else {
    write_text(out, "this user on this machine", machine);
    if (process) write_text(out, "\nprocess " + std::to_string(process->pid()) + " " + process->comm(), jvm);
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return ExitStatus::kOk;
}

}  // namespace

void add_doctor_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* command = app.add_subcommand("doctor", summary_of("doctor"));
  command->add_option("JVM", arguments->jvm,
                      "process id or part of the main class: also shows what can be done with it");
  command->add_option("--format", arguments->format, "text or json")->check(one_of({"text", "json"}));
  command->footer(
      "Each line was tried on processes of jtrace's own; the JVM is only examined.\n"
      "Example: jtrace doctor 4711");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
