// jtrace diff BEFORE AFTER: what is slower, more often or bigger than before, of two traces, profiles or histograms; or
// of one and a JVM.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/heap_dump_file.h"
#include "cli/live_recording.h"
#include "cli/one_of.h"
#include "cli/overwriting.h"
#include "cli/recording_input.h"
#include "cli/selector.h"
#include "cli/summaries.h"
#include "cli/trace_output.h"
#include "cli/units.h"
#include "target/jvm_discovery.h"
#include "trace/io/trace_diff.h"
#include "trace/record/start_options.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

struct DiffArguments {
  std::string before, after;
  std::string output, duration;
  std::string format = "text";
  std::size_t rows = 20;
  bool as_is = false;
};

Result<> write_page(const DiffArguments& arguments, const io::Difference& difference) {
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_trace_output(arguments.output));
  JTRACE_RETURN_IF_ERROR(bytes->write(io::diff_page(difference)));
  return bytes->finish();
}

std::string kind_of(const io::Recording& recording) {
  if (recording.kind != "profile") return recording.kind;
  return recording.stacks.stacks.empty() ? "profile without samples" : "profile in " + recording.stacks.unit;
}

// Waits are scaled like CPU time, which says nothing.
void warn_of_kinds(const io::Recording& before, const io::Recording& after) {
  if (before.kind != "profile" || after.kind != "profile") return;
  const bool waits = waits_of(before.stacks).some;
  if (waits == waits_of(after.stacks).some) return;
  log_warning((waits ? before : after).name + " has waits (profile --wall, --off-cpu), " +
              (waits ? after : before).name + " has none: they are of different kinds, and amounts are not comparable");
}

// Then one has short calls that the other has not.
void warn_of_thresholds(const io::Recording& before, const io::Recording& after) {
  const std::string *one = before.made.find(trace::record::kSlowerThanOption),
                    *other = after.made.find(trace::record::kSlowerThanOption);
  const std::string first = one == nullptr ? "0" : *one, second = other == nullptr ? "0" : *other;
  if (before.kind != "trace" || after.kind != "trace" || first == second) return;
  log_warning("calls were recorded from " + first + " s on in " + before.name + ", from " + second + " s on in " +
              after.name + ": more and longer calls may be due to that (--slower-than; of jtrace slow, --over)");
}

Result<> check(const DiffArguments& arguments) {
  if (!arguments.output.empty() && !arguments.output.ends_with(".html"))
    return fail(ErrorCategory::kUsage,
                "-o " + arguments.output + ": a difference is written as a page, a name in .html",
                "without -o it is printed; --format json for programs");
  if (!names_input(arguments.before) && parse_decimal<pid_t>(arguments.before))
    return fail(ErrorCategory::kUsage,
                "BEFORE must be a file, and there is none named " + arguments.before + "; only AFTER may be a JVM",
                "jtrace attach " + arguments.before + " -o before.xml makes it, or jtrace profile, or jtrace inspect " +
                    arguments.before + " histogram --format json");
  if (names_input(arguments.after) && !arguments.duration.empty())
    return fail(ErrorCategory::kUsage, "--duration is how long a JVM is recorded: " + arguments.after + " is a file");
  JTRACE_RETURN_IF_ERROR(refuse_overwriting(arguments.output, {arguments.before, arguments.after}));
  const auto is_dump = [](const std::string& path) { return path != "-" && is_heap_dump(path); };
  const bool before = is_dump(arguments.before), after = is_dump(arguments.after);
  const std::string pair = shell_word(arguments.before) + " " + shell_word(arguments.after);
  if (before && after)
    return fail(ErrorCategory::kUsage, "these are heap dumps", "jtrace heap diff " + pair + " compares them");
  if (before || after)
    return fail(ErrorCategory::kUsage,
                (before ? arguments.before : arguments.after) + " is a heap dump, " +
                    (before ? arguments.after : arguments.before) + " is none",
                "two heap dumps are compared by jtrace heap diff, two traces, profiles or histograms by jtrace diff");
  return {};
}

// AFTER, if it is a JVM; nothing if it is a file.
Result<std::optional<pid_t>> select_after(const DiffArguments& arguments) {
  if (names_input(arguments.after)) return std::optional<pid_t>();
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, open_selected(arguments.after, Takes::kJvmOrFile));
  JTRACE_RETURN_IF_ERROR(target::examine_jvm(process));
  return std::optional(process.pid());
}

Result<std::vector<std::string>> run_diff(const DiffArguments& arguments) {
  JTRACE_RETURN_IF_ERROR(check(arguments));
  JTRACE_ASSIGN_OR_RETURN(const std::optional<pid_t> jvm, select_after(arguments));
  JTRACE_ASSIGN_OR_RETURN(const io::Recording before, read_recording(arguments.before));
  JTRACE_ASSIGN_OR_RETURN(const io::Recording after, jvm ? record_like(before, std::to_string(*jvm), arguments.duration)
                                                         : read_recording(arguments.after));
  const io::Difference difference = io::compare(before, after, arguments.as_is);
  if (difference.tables.empty())
    return fail(ErrorCategory::kUsage, "nothing to compare: " + before.name + " is a " + kind_of(before) + ", " +
                                           after.name + " a " + kind_of(after) + ", and no table is in both");
  warn_of_kinds(before, after);
  warn_of_thresholds(before, after);
  const std::string out = arguments.format == "json" ? io::diff_json(difference, arguments.rows)
                                                     : io::diff_text(difference, arguments.rows);
  std::fwrite(out.data(), 1, out.size(), stdout);
  if (!arguments.output.empty()) {
    JTRACE_RETURN_IF_ERROR(write_page(arguments, difference));
    log_info("difference of " + before.name + " and " + after.name + " -> " + arguments.output);
  }
  return difference.missing();
}

ExitStatus run(const DiffArguments& arguments) {
  const auto missing = run_diff(arguments);
  if (!missing && missing.error().text.empty()) return exit_status(missing.error());  // it is said
  if (!missing) return report(missing.error());
  for (const std::string& line : *missing) log_info("missing: " + line);
  return missing->empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

}  // namespace

void add_diff_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<DiffArguments>();
  CLI::App* command = app.add_subcommand("diff", summary_of("diff"));
  command
      ->add_option("BEFORE", arguments->before,
                   "a trace; collapsed stacks or speedscope; the JSON of inspect ... histogram; compressed or not")
      ->required();
  command
      ->add_option(
          "AFTER", arguments->after,
          "the later one, of the same kind; or a JVM (its pid, or a part of its main class), which is recorded "
          "as BEFORE was")
      ->required();
  command->add_option("--duration", arguments->duration, "how long a JVM is recorded (as long as BEFORE)")
      ->type_name("TIME")
      ->check(is_time({.least = std::chrono::milliseconds(1)}));
  command
      ->add_option("-o,--output", arguments->output,
                   "write a page with a flame graph of the differences too (NAME.html)")
      ->type_name("FILE");
  command->add_option("--format", arguments->format, "text or json")->check(one_of({"text", "json"}));
  add_rows(*command, arguments->rows, "rows of each table (20)");
  command->add_flag("--as-is", arguments->as_is,
                    "do not scale AFTER to the length of BEFORE (its time; of a profile without times, its samples)");
  command->footer("Example: jtrace diff monday.xml tuesday.xml -o diff.html; jtrace diff monday.xml 4711");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
