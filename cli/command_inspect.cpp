// jtrace inspect: shows the contents of a live JVM or a core, one view at a time.
#include <unistd.h>

#include "cli/commands.h"
#include "cli/inspect_common.h"
#include "cli/one_of.h"
#include "cli/summaries.h"
#include "cli/units.h"
#include "cli/view_options.h"
#include "cli/view_run.h"
#include "cli/word_scopes.h"
#include "coreinspect/hprof/redaction.h"
#include "trace/io/scopes.h"

namespace jtrace::cli {
namespace {

using coreinspect::View;
using coreinspect::ViewOption;

bool any_view(const View&) { return true; }

Result<> check_bytes(const InspectArguments& arguments) {
  if (!arguments.options.bytes) return {};
  if (arguments.format != "text")
    return fail(ErrorCategory::kUsage, "--bytes writes a class file: it has no --format " + arguments.format);
  if (arguments.output == "-" && ::isatty(STDOUT_FILENO) != 0)
    return fail(ErrorCategory::kUsage, "a class file is not for a terminal", "-o FILE");
  return {};
}

Result<> check_keep(const InspectArguments& arguments) {
  const auto& heap = arguments.options.heap;
  if (!heap.keep.empty() && !heap.redact)
    return fail(ErrorCategory::kUsage, "--keep says what a redacted dump keeps: it needs --redact");
  const auto kept = coreinspect::KeptFields::of(heap.keep);
  return kept ? Result<>() : fail(kept.error());
}

// The JVM's own form of an array class, "[B", as "byte[]".
void take_array_names(InspectArguments& arguments) {
  const auto take = [](std::string& name) {
    if (name.starts_with('[')) name = trace::io::java_class_name(name);
  };
  for (std::string& each : arguments.options.arguments) take(each);
  take(arguments.options.heap.filter);
}

ExitStatus run(InspectArguments arguments, const WordScopes& scopes) {
  take_array_names(arguments);
  const auto view = named_view(arguments.view, any_view, "jtrace inspect", arguments.target);
  if (!view) return report(view.error());
  if (auto checked = check_view(**view, arguments, scopes); !checked) return report(checked.error());
  if (auto checked = check_bytes(arguments); !checked) return report(checked.error());
  if (auto checked = check_keep(arguments); !checked) return report(checked.error());
  return run_view(arguments, **view);
}

void add_own_options(CLI::App& command, InspectArguments& arguments, OwnOptions& own) {
  coreinspect::ViewOptions& options = arguments.options;
  coreinspect::HeapOptions& heap = options.heap;
  own.add(ViewOption::kMaxStop,
          add_max_stop(command, arguments,
                       "longest time that a thread of a live target may be stopped (200ms; of views that read the heap "
                       "as a whole, but for histogram and regions, 2s); many threads are read in batches"));
  own.add(ViewOption::kAll,
          command.add_flag("--all", options.all, "include flags with their default value, and free locks"));
  own.add(ViewOption::kBytes, command.add_flag("--bytes", options.bytes, "write its class file"));
  own.add(ViewOption::kLocals, command.add_flag("--locals", options.threads.locals,
                                                "the local variables of each frame, compiled ones included"));
  own.add(ViewOption::kStop,
          command.add_flag("--stop", options.stop, "stop the late threads for a moment, to show where they run"));
  own.add(ViewOption::kSort, command.add_option("--sort", heap.sort, "by bytes (the default), instances or name")
                                 ->check(one_of({"bytes", "instances", "name"})));
  CLI::Option* type = command.add_option("--class", heap.filter, "part of a class name, or a pattern with * and ?");
  own.add(ViewOption::kFilter, type->type_name("PATTERN"));
  add_old_name(command, type, "--filter");
  CLI::Option* rows = add_rows(command, heap.top, "number of rows; of an array or a collection, of its elements");
  own.add(ViewOption::kTop, rows);
  add_old_name(command, rows, "--top");
  own.add(ViewOption::kHeap, command.add_flag("--heap", heap.in_events, "include instances and bytes of each class"));
  own.add(ViewOption::kRedact,
          command.add_flag("--redact", heap.redact,
                           "without contents: zeros for elements of primitive arrays, texts and numbers"));
  CLI::Option* keep = command.add_option("--keep", heap.keep,
                                         "with --redact: the contents of this field stay, CLASS.FIELD with * and ?; "
                                         "may be repeated");
  own.add(ViewOption::kRedact, keep->type_name("CLASS.FIELD")->allow_extra_args(false));
  add_heap_options(command, arguments, own);
}

}  // namespace

void add_inspect_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand("inspect", summary_of("inspect"));
  command
      ->add_option("PID|CORE|HPROF|BUNDLE", arguments->target,
                   "process id, part of a main class, a core file, a heap dump, or a bundle of jtrace diagnose")
      ->required();
  const CLI::Option* view = command->add_option("VIEW", arguments->view, "what to show; see below")->required();
  command->add_option("ARGUMENT", arguments->options.arguments, "argument of the view");
  add_inspect_options(*command, *arguments);
  OwnOptions own(any_view);
  add_own_options(*command, *arguments, own);
  command->footer("Views:\n" + list_of_views(any_view) +
                  "jtrace inspect PID VIEW --help lists the options of a view.\n"
                  "Example: jtrace inspect core.1234 threads --format json");
  register_word_scopes(*command, std::move(own).scopes_of(view));
  command->callback([arguments, command, &status] { status = run(*arguments, *word_scopes_of(*command)); });
}

}  // namespace jtrace::cli
