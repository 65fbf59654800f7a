// jtrace cmd: any operation of Dynamic Attach.
#include <unistd.h>

#include <memory>

#include "attach/commands.h"
#include "base/file.h"
#include "base/strings.h"
#include "cli/attach_run.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/summaries.h"
#include "cli/words.h"

namespace jtrace::cli {
namespace {

constexpr std::size_t kBatchLimit = 64u << 20;  // bytes of a batch file

struct CmdArguments {
  AttachRunOptions run;
  std::string batch;
  bool quiet = false;
  bool verbose = false;
};

Result<std::vector<attach::Request>> batch_requests(const std::string& path) {
  auto text = path == "-" ? read_whole(STDIN_FILENO, "standard input", kBatchLimit) : read_file(path, kBatchLimit);
  if (!text) return fail(text.error());
  std::vector<attach::Request> requests;
  for (std::string_view line : split(*text, '\n')) {
    JTRACE_ASSIGN_OR_RETURN(const auto words, split_words(line));
    if (!words.empty()) requests.push_back(attach::request_of_words(words));
  }
  if (requests.empty()) return fail(ErrorCategory::kUsage, "the batch has no command: " + path);
  return requests;
}

Result<std::vector<attach::Request>> requests_of(const CmdArguments& arguments, const std::vector<std::string>& words) {
  if (!arguments.batch.empty() && !words.empty())
    return fail(ErrorCategory::kUsage, "an operation and --batch do not go together");
  if (!arguments.batch.empty()) return batch_requests(arguments.batch);
  if (words.empty()) return fail(ErrorCategory::kUsage, "no operation given", "jtrace cmd --help names them");
  return std::vector<attach::Request>{attach::request_of_words(words)};
}

ExitStatus run(const CmdArguments& arguments, const std::vector<std::string>& words) {
  if (arguments.quiet) set_log_level(LogLevel::kError);
  if (arguments.verbose) set_log_level(LogLevel::kDebug);
  const auto requests = requests_of(arguments, words);
  if (!requests) return report(requests.error());
  return run_and_print(arguments.run, *requests);
}

}  // namespace

void add_cmd_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<CmdArguments>();
  CLI::App* command = app.add_subcommand("cmd", summary_of("cmd"));
  command
      ->add_option("JVM", arguments->run.selectors, "process id or part of the main class; several with commas, or all")
      ->required();
  command->add_option("--batch", arguments->batch, "operations from a file (- is stdin), one per line");
  add_timeout(*command, arguments->run);
  command->add_option("--format", arguments->run.format, "text or json")->check(one_of({"text", "json"}));
  command->add_flag("--show-secrets", arguments->run.show_secrets, "do not mask properties that look like secrets");
  command->add_flag("--yes", arguments->run.confirmed, "required by 'all' for operations that may change a JVM");
  command->add_flag("-q,--quiet", arguments->quiet, "errors only");
  command->add_flag("-v,--verbose", arguments->verbose, "print what is being done");
  command->prefix_command();  // the words after JVM are the operation and its arguments
  command->footer(
      "After JVM: OPERATION [ARG...].\n"
      "Operations: threaddump [-l|-e], inspectheap [-live|-all], dumpheap FILE [-live|-all], properties, "
      "agentProperties,\n"
      "setflag NAME VALUE, printflag NAME, datadump, load NAME ABSOLUTE OPTIONS, jcmd COMMAND [ARG...]; others go as "
      "they are.\n"
      "Example: jtrace cmd 4711 jcmd GC.heap_info");
  command->callback([arguments, command, &status] { status = run(*arguments, command->remaining()); });
}

}  // namespace jtrace::cli
