// jtrace diagnose: what is wrong with a JVM, in one command. Status 0: nothing found; 1: found; 9: nothing found, and
// not everything could be examined.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/inspect_common.h"
#include "cli/selector.h"
#include "diagnose/verdict.h"

namespace jtrace::cli {
namespace {

struct DiagnoseArguments {
  InspectArguments inspect;
  double interval = 1;
};

Result<diagnose::Collected> collect(const DiagnoseArguments& arguments) {
  const std::string& target = arguments.inspect.target;
  if (is_file_name(target))
    return diagnose::collect_core(target, [&arguments] { return open_inspection(arguments.inspect); });
  JTRACE_ASSIGN_OR_RETURN(const pid_t pid, select_jvm(target));
  // A copy for the collectors: one that is left behind outlives this function.
  InspectArguments live = arguments.inspect;
  live.target = std::to_string(pid);
  const diagnose::CollectOptions options{
      .interval = std::chrono::milliseconds(static_cast<std::int64_t>(arguments.interval * 1000)),
      .max_stop = std::chrono::milliseconds(arguments.inspect.max_stop_ms)};
  return diagnose::collect_live(
      pid, [live] { return open_inspection(live); }, options);
}

std::string json_of(const diagnose::Verdict& verdict, const diagnose::Collected& collected) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().member("view", "diagnose").key("target").begin_object();
  if (collected.facts.live) json.member("kind", "process").member("pid", std::stol(collected.facts.target));
  else json.member("kind", "core").member("path", collected.facts.target);
  json.member("version", collected.facts.release).end_object();
  write_missing(json, !diagnose::is_partial(verdict, collected) && collected.missing.empty(), collected.missing);
  text += ',';
  diagnose::write_members(text, verdict, collected);
  text += ",\"data\":[";
  diagnose::write_findings(text, verdict);
  return text + "]}\n";
}

ExitStatus status_of(const diagnose::Verdict& verdict, const diagnose::Collected& collected) {
  if (verdict.is_found()) return ExitStatus::kRefused;
  return diagnose::is_partial(verdict, collected) ? ExitStatus::kPartial : ExitStatus::kOk;
}

ExitStatus run(const DiagnoseArguments& arguments) {
  const auto collected = collect(arguments);
  if (!collected) {
    // 1 means that something was found, so a refusal needs another number.
    const ExitStatus status = report(collected.error());
    return status == ExitStatus::kRefused ? ExitStatus::kNotAttachable : status;
  }
  const diagnose::Verdict verdict = diagnose::judge(collected->facts);
  const std::string text =
      arguments.inspect.format == "json" ? json_of(verdict, *collected) : diagnose::text_of(verdict, *collected);
  std::fwrite(text.data(), 1, text.size(), stdout);
  const ExitStatus status = status_of(verdict, *collected);
  if (!collected->left_behind) return status;
  // A collector's thread may still wait in the kernel and use objects that the normal end of the program destroys.
  std::fflush(stdout);
  ::_exit(static_cast<int>(status));
}

}  // namespace

void add_diagnose_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<DiagnoseArguments>();
  arguments->inspect.max_stop_ms = 50;
  CLI::App* command =
      app.add_subcommand("diagnose", "what is wrong with a live JVM or a core: a verdict in a few seconds");
  command->add_option("PID|CORE", arguments->inspect.target, "process id, part of a main class, or a core file")
      ->required();
  command->add_option("--format", arguments->inspect.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->add_option("--interval", arguments->interval, "seconds between two of the three samples (1)")
      ->check(CLI::Range(0.2, 60.0));
  command->add_option("--max-stop,--max-pause", arguments->inspect.max_stop_ms, "longest single stop, ms (50)")
      ->check(CLI::Range(1, 600'000));
  command->add_option("--sysroot", arguments->inspect.files.sysroot,
                      "for a core: the folder below which mapped files are searched");
  command->add_option("--libjvm", arguments->inspect.files.libjvm,
                      "for a core: the libjvm.so that the process had mapped");
  command->footer(
      "Nothing is loaded into the JVM, and it need not respond.\n"
      "Status 0: nothing found; 1: something found; 9: nothing found, and not everything could be examined.\n"
      "Example: jtrace diagnose 4711");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
