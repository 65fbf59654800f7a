// jtrace allocations PID|IN: which classes, sites, stacks and threads allocate, in a JVM that is traced for a while, or
// in a trace.
#include <memory>

#include "cli/brief_trace.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/summaries.h"
#include "cli/units.h"
#include "trace/filter_example.h"
#include "trace/io/allocations_text.h"
#include "trace/io/scopes.h"
#include "trace/record/start_options.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;
namespace record = trace::record;

struct AllocationArguments {
  BriefTrace trace;
  std::string type;
  std::string by;
  std::string sample_interval;
  std::string format = "text";
  std::size_t rows = 20;
};

// The JVM's own samples cover all code; filters choose the methods of which each allocation is recorded.
Result<> give_options(session::OptionReader& reader, const AllocationArguments& arguments) {
  const bool is_exact = !arguments.trace.filters.empty();
  JTRACE_RETURN_IF_ERROR(reader.give(record::kEventsOption, is_exact ? "allocations,threads" : "objects,threads"));
  if (!arguments.sample_interval.empty())
    JTRACE_RETURN_IF_ERROR(reader.give(record::kSampleIntervalOption, arguments.sample_interval));
  const bool with_stacks = arguments.by == "stack" || (arguments.by.empty() && !arguments.type.empty());
  return is_exact && with_stacks ? reader.give(record::kStackDepthOption, std::to_string(record::kDefaultStackDepth))
                                 : Result<>();
}

// Without filters a JVM before JDK 11 records nothing (JEP 331): it would be traced for nothing.
Result<> check_samples(const target::Jvm& jvm) {
  constexpr int kFirstWithSamples = 11;
  if (jvm.feature == 0 || jvm.feature >= kFirstWithSamples) return {};
  return fail(
      ErrorCategory::kUsage,
      "JVM " + std::to_string(jvm.pid) + " is JDK " + std::to_string(jvm.feature) +
          ", which does not sample allocations (JDK 11 and later do); --filter records each object that the "
          "chosen methods make",
      "jtrace allocations " + std::to_string(jvm.pid) + " --filter '" + trace::filter_example(jvm.main_class) + "'");
}

ExitStatus run(AllocationArguments arguments) {
  if (arguments.trace.filters.empty()) arguments.trace.check = check_samples;
  if (!arguments.sample_interval.empty() && !arguments.trace.filters.empty())
    return report(
        Error{ErrorCategory::kUsage, "--sample-interval: with --filter each object is recorded, none is sampled"});
  // The JVM's own form of an array class, "[B", as "byte[]".
  const std::string type = arguments.type.starts_with('[') ? io::java_class_name(arguments.type) : arguments.type;
  const io::AllocationsView view{type, io::allocations_by(arguments.by), arguments.rows};
  return answer_from_trace(
      arguments.trace, "allocations",
      [&](session::OptionReader& reader, bool) { return give_options(reader, arguments); },
      [&](const io::Statistics& statistics, const std::string& name) {
        return arguments.format == "json" ? io::allocations_json(statistics, name, view)
                                          : io::allocations_text(statistics, view);
      });
}

}  // namespace

void add_allocations_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<AllocationArguments>();
  arguments->trace.leaves_out_jdk = false;
  CLI::App* command = app.add_subcommand("allocations", summary_of("allocations"));
  add_brief_trace(*command, arguments->trace);
  command
      ->add_option("--class", arguments->type,
                   "only objects of this class: Order, 'byte[]', 'com.example.*' (default: all)")
      ->type_name("CLASS");
  command
      ->add_option(
          "--by", arguments->by,
          "one table: class, site, method (of the program), stack or thread (default: all, stack only with --class)")
      ->check(one_of({"class", "site", "method", "stack", "thread"}));
  command
      ->add_option("--" + std::string(record::kSampleIntervalOption), arguments->sample_interval,
                   record::option_help("without --filter: bytes between samples (default: {default}); 0: every object",
                                       record::StartForm::kSize, record::kDefaultSampleInterval))
      ->type_name("SIZE");
  command->add_option("--format", arguments->format, "text or json")->check(one_of({"text", "json"}));
  add_rows(*command, arguments->rows, "rows of each table (20)");
  command->footer("Example: jtrace allocations 4711 --class 'byte[]'");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
