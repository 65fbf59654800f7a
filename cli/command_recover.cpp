// jtrace recover: writes the document of a trace whose jtrace died.
#include <unistd.h>

#include <cstdio>

#include "base/size_text.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/output_name.h"
#include "cli/overwriting.h"
#include "cli/summaries.h"
#include "session/left_pools.h"
#include "session/recover.h"

namespace jtrace::cli {
namespace {

struct RecoverArguments {
  std::string pool;
  std::string output;
  bool remove = false;
};

std::string text_of(const session::LeftPool& pool) {
  using State = session::LeftPool::State;
  const std::string size = whole_mib_text(pool.size) + "  pid " + std::to_string(pool.pid) + "  ";
  switch (pool.state) {
    case State::kInUse: return "in use by a jtrace that runs";
    case State::kBlank: return size + "nothing was recorded in it: `jtrace recover FILE --remove` removes it";
    case State::kOtherVersion: return size + "made by another version of jtrace, which reads it";
    case State::kNone:
    case State::kHolds: break;
  }
  return size + pool.process_name + "  trace " + pool.output;
}

ExitStatus list() {
  const auto left = session::list_left_pools();
  if (left.empty()) log_info("no trace was left unfinished");
  for (const session::LeftPool& pool : left) std::printf("%s  %s\n", pool.path.c_str(), text_of(pool).c_str());
  return ExitStatus::kOk;
}

ExitStatus remove_blank(const std::string& pool) {
  if (auto removed = session::remove_blank_pool(pool); !removed) return report(removed.error());
  log_info("nothing was recorded in " + pool + ": it is removed");
  return ExitStatus::kOk;
}

std::string sources_of(const session::Recovered& recovered) {
  const std::string file = size_text(recovered.from_file) + " from the trace's file";
  if (recovered.elements != 0)
    return counted(recovered.elements, "element") + ": " + file + ", the rest from the ring memory";
  return file + ", " + counted(recovered.events, "event") + " from the ring memory";
}

ExitStatus run(const RecoverArguments& arguments) {
  if (arguments.pool.empty()) return list();
  const bool blank = session::look_at_pool(arguments.pool).state == session::LeftPool::State::kBlank;
  if (blank && arguments.remove && arguments.output.empty()) return remove_blank(arguments.pool);
  if (arguments.output.empty() && !blank)
    return report(Error{.category = ErrorCategory::kUsage, .text = "recover FILE needs -o OUT"});
  if (const Result<> good = refuse_overwriting(arguments.output, {arguments.pool}); !good) return report(good.error());
  const auto recovered = session::recover(arguments.pool, arguments.output);
  if (!recovered) return report(recovered.error());
  if (!recovered->whole)
    log_warning("the trace's own file is missing, and with it the events that had left the ring memory");
  if (recovered->dropped != 0) log_warning(std::to_string(recovered->dropped) + " events had been lost before");
  if (recovered->malformed != 0)
    log_warning(counted(recovered->malformed, "place") + " in the ring memory " + is_are(recovered->malformed) +
                " invalid and left out");
  log_info(sources_of(*recovered) + " -> " + arguments.output);
  if (arguments.remove && ::unlink(arguments.pool.c_str()) != 0)
    return report(system_error("removing", arguments.pool));
  const bool sound = recovered->whole && recovered->malformed == 0 && recovered->dropped == 0;
  return sound ? ExitStatus::kOk : ExitStatus::kPartial;
}

}  // namespace

void add_recover_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<RecoverArguments>();
  CLI::App* command = app.add_subcommand("recover", summary_of("recover"));
  command->add_option("FILE", arguments->pool, "ring memory that was left")->type_name("FILE");
  command->add_option("-o,--output", arguments->output, "the document; - is stdout")
      ->type_name("OUT")
      ->check(wrong_trace_name);
  command->add_flag("--remove", arguments->remove,
                    "remove FILE when the document is complete, or where nothing was recorded in it");
  command->footer("Example: jtrace recover /dev/shm/jtrace-4711-884213-1b2c3d4e.pool -o trace.xml");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
