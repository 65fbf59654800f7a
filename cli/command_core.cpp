// jtrace core PID -o FILE: a core of a live JVM, of what is resident, or small: of what the views need.
#include <unistd.h>

#include <filesystem>

#include "base/size_text.h"
#include "cli/commands.h"
#include "cli/heap_output.h"
#include "cli/inspect_common.h"
#include "cli/selector.h"
#include "cli/summaries.h"
#include "cli/units.h"
#include "coreinspect/tools/core_copy.h"
#include "coreinspect/tools/core_redaction.h"
#include "trace/io/compress_sink.h"

namespace jtrace::cli {
namespace {

constexpr std::chrono::milliseconds kMaxStop(1000);

struct CoreArguments {
  std::string target;
  std::string output;
  bool small = false, redact = false;
  bool no_libraries = false;
  std::chrono::milliseconds max_stop = kMaxStop;
};

std::string text_of_ms(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(time.count()) / 1e6);
  return text;
}

Result<std::unique_ptr<trace::ByteSink>> open_core_output(const std::string& path) {
  if (path == "-" && ::isatty(STDOUT_FILENO) != 0)
    return fail(ErrorCategory::kUsage, "a core is not for a terminal", "-o FILE, or - for a pipe");
  if (path.ends_with(".gz"))
    return fail(ErrorCategory::kUsage, path + ": cores are read packed by zstd, not by gzip", "-o FILE.zst");
  JTRACE_ASSIGN_OR_RETURN(auto sink, open_whole_output(path));
  return trace::io::compressing(std::move(sink), trace::io::compression_of_name(path));
}

Result<coreinspect::CoreCopy> copy(const CoreArguments& arguments, pid_t pid) {
  if (arguments.small) return coreinspect::copy_for_views(pid, arguments.max_stop);
  const target::CopyOptions options{.max_stop = arguments.max_stop, .libraries = !arguments.no_libraries, .pages = {}};
  return arguments.redact ? coreinspect::copy_redacted(pid, options) : coreinspect::copy_whole(pid, options);
}

// Ctrl-C ends the writing, and no part of a file stays.
Result<std::uint64_t> write(const target::ProcessCopy& copy, trace::ByteSink& sink) {
  coreinspect::HeapOptions options;
  const HeapProgress progress(options);
  std::uint64_t done = 0;
  const std::uint64_t all = copy.bytes();
  JTRACE_ASSIGN_OR_RETURN(const std::uint64_t size,
                          target::write_core(copy.process(), copy.ranges(), [&](std::string_view bytes) -> Result<> {
                            constexpr std::size_t kPiece = 4u << 20;
                            for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPiece))) {
                              if (!options.progress(done, std::max(done, all)))
                                return fail(ErrorCategory::kRefused, "interrupted: no core is written");
                              JTRACE_RETURN_IF_ERROR(sink.write(bytes.substr(0, kPiece)));
                              done += std::min(bytes.size(), kPiece);
                            }
                            return {};
                          }));
  JTRACE_RETURN_IF_ERROR(sink.finish());
  return size;
}

Result<std::vector<std::string>> run_core(const CoreArguments& arguments) {
  JTRACE_ASSIGN_OR_RETURN(const pid_t pid, select_jvm(arguments.target));
  // Before the stop: the JVM is not stopped for a core that cannot be written.
  JTRACE_ASSIGN_OR_RETURN(const auto sink, open_core_output(arguments.output));
  JTRACE_ASSIGN_OR_RETURN(auto core, copy(arguments, pid));
  JTRACE_ASSIGN_OR_RETURN(const std::uint64_t size, write(core.copy, *sink));
  std::error_code unknown;
  const std::uint64_t packed = std::filesystem::file_size(arguments.output, unknown);
  const std::string unpacked = unknown || packed >= size ? "" : size_text(packed) + ", unpacked ";
  log_info(arguments.output + ": " + unpacked + size_text(size) + ", " +
           std::to_string(core.copy.process().threads.size()) + " threads; " +
           (core.stops == 1 ? "stopped for " + text_of_ms(core.longest)
                            : "stopped " + std::to_string(core.stops) + " times, for " + text_of_ms(core.longest) +
                                  " at the longest"));
  auto missing = core.copy.missing();
  missing.insert(missing.end(), core.missing.begin(), core.missing.end());
  return missing;
}

ExitStatus run(const CoreArguments& arguments) {
  const auto missing = run_core(arguments);
  if (!missing) return report(missing.error());
  for (const std::string& line : *missing) log_info("missing: " + line);
  return missing->empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

}  // namespace

void add_core_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<CoreArguments>();
  CLI::App* command = app.add_subcommand("core", summary_of("core"));
  command->add_option("PID", arguments->target, "process id, or part of a main class")->required();
  command
      ->add_option("-o,--output", arguments->output, "file to write, packed if it ends in .zst; - is standard output")
      ->required();
  CLI::Option* small =
      command->add_flag("--small", arguments->small,
                        "only what the views of threads, locks, classes, flags and code read: no heap contents");
  command
      ->add_flag("--redact", arguments->redact,
                 "without contents: what the views of threads, locks, classes, flags and sizes of objects need")
      ->excludes(small);
  command->add_flag("--no-libraries", arguments->no_libraries,
                    "leave out the libraries: a reader of the core needs files of the same builds");
  add_old_name(*command,
               add_time(*command, "--max-stop", arguments->max_stop, "longest stop of the JVM (1s)", kStopRange),
               "--max-pause");
  command->footer(
      "The memory is copied while all threads are stopped, and written after that.\n"
      "gdb, jhsdb and jtrace open the core; it holds everything that the process has in memory, secrets as well.\n"
      "Example: jtrace core 4711 -o app.core && jtrace inspect app.core locks");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
