// jtrace exceptions PID|IN: which exceptions were thrown, where they ended and which were swallowed, in a JVM that is
// traced for a while, or in a trace.
#include <iterator>
#include <memory>

#include "cli/brief_trace.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/summaries.h"
#include "cli/units.h"
#include "trace/io/exceptions_text.h"
#include "trace/record/start_options.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;
namespace record = trace::record;

struct ExceptionArguments {
  BriefTrace trace;
  bool messages = false;
  std::string format = "text";
  std::size_t rows = 20;
};

// Methods of the JDK that catch what a task throws, or that it leaves when it ends its thread: without them both would
// be "left". FutureTask.report throws it on from Future.get, as do the others' methods that throw.
constexpr const char* kCatchers[] = {"java.lang.Thread run include",
                                     "java.util.concurrent.FutureTask run include",
                                     "java.util.concurrent.FutureTask runAndReset include",
                                     "java.util.concurrent.FutureTask report include",
                                     "java.util.concurrent.ThreadPoolExecutor runWorker include",
                                     "java.util.concurrent.CompletableFuture$Async* run include",
                                     "java.util.concurrent.CompletableFuture$* tryFire include",
                                     "java.util.concurrent.CompletableFuture uni* include",
                                     "java.util.concurrent.CompletableFuture bi* include",
                                     "java.util.concurrent.CompletableFuture report* include",
                                     "java.util.concurrent.ForkJoinTask$InterruptibleTask exec include",
                                     "java.util.concurrent.ForkJoinTask get include",
                                     "java.util.concurrent.ForkJoinTask uncheckedThrow include",
                                     "java.util.concurrent.ForkJoinTask doExec include"};

Result<> give_options(session::OptionReader& reader, const ExceptionArguments& arguments) {
  JTRACE_RETURN_IF_ERROR(reader.give(record::kEventsOption, "exceptions,threads"));
  // Before all others: the first that matches decides.
  for (const char* rule : kCatchers) JTRACE_RETURN_IF_ERROR(reader.give("filter", rule));
  return arguments.messages ? reader.give_flag(record::kExceptionMessagesOption) : Result<>();
}

ExitStatus run(const ExceptionArguments& arguments) {
  return answer_from_trace(
      arguments.trace, "exceptions",
      [&](session::OptionReader& reader, bool) { return give_options(reader, arguments); },
      [&](const io::Statistics& statistics, const std::string& name) {
        return arguments.format == "json" ? io::exceptions_json(statistics, name, arguments.rows)
                                          : io::exceptions_text(statistics, arguments.rows);
      });
}

}  // namespace

void add_exceptions_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ExceptionArguments>();
  arguments->trace.own_methods = std::size(kCatchers);
  CLI::App* command = app.add_subcommand("exceptions", summary_of("exceptions"));
  add_brief_trace(*command, arguments->trace);
  command->add_flag("--messages", arguments->messages,
                    "read their messages (which may contain secrets); a trace has them with --exception-messages");
  command->add_option("--format", arguments->format, "text or json")->check(one_of({"text", "json"}));
  add_rows(*command, arguments->rows, "rows of the table (20)");
  command->footer("Example: jtrace exceptions 4711 --filter 'com.example.*' --messages");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
