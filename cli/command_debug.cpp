// jtrace debug: a read-only JDWP server, with which jdb and IDEs open a core or a JVM that hangs.
#include <cstdio>

#include "cli/bundle_views.h"
#include "cli/commands.h"
#include "cli/inspect_common.h"
#include "cli/stop_signals.h"
#include "cli/summaries.h"
#include "cli/units.h"
#include "coreinspect/tools/core_redaction.h"
#include "debug/server.h"
#include "diagnose/bundle_file.h"

namespace jtrace::cli {
namespace {

struct DebugArguments {
  InspectArguments inspect;
  std::string listen = "127.0.0.1:0", connect;
  bool hold = false, no_stop = false, once = false;
  std::chrono::milliseconds max_stop{200};
  std::chrono::seconds max_hold{600};
  debug::WorldOptions world;
};

Result<std::unique_ptr<debug::Source>> open_source(coreinspect::Inspection& inspection,
                                                   const DebugArguments& arguments) {
  const auto say = [](const std::string& line) { log_info(line); };
  using Opened = std::unique_ptr<debug::Source>;
  const debug::SnapshotOptions stop{.max_stop = arguments.max_stop, .say = say};
  if (const target::Process* process = inspection.target().process()) {
    if (arguments.hold)
      return Opened(std::make_unique<debug::HoldSource>(inspection, arguments.world,
                                                        debug::HoldOptions{.most = arguments.max_hold, .say = say}));
    if (arguments.no_stop) {
      JTRACE_RETURN_IF_ERROR(debug::LiveSource::check(inspection));
      return Opened(std::make_unique<debug::LiveSource>(inspection, arguments.world, stop));
    }
    return Opened(std::make_unique<debug::SnapshotSource>(*process, arguments.world, stop));
  }
  JTRACE_ASSIGN_OR_RETURN(auto core, debug::CoreSource::open(inspection, arguments.world));
  for (const std::string& line : core->missing()) log_info("missing: " + line);
  note_unused_option(inspection);
  return Opened(std::move(core));
}

Result<debug::ServerOptions> server_options(const DebugArguments& arguments) {
  debug::ServerOptions options;
  JTRACE_ASSIGN_OR_RETURN(options.listen, debug::Endpoint::parse(arguments.listen));
  if (!arguments.connect.empty()) {
    JTRACE_ASSIGN_OR_RETURN(options.connect, debug::Endpoint::parse(arguments.connect));
  } else if (!options.listen.is_loopback()) {
    log_info("whoever reaches " + options.listen.text() + " reads all of the target's memory: JDWP has no password");
  }
  options.once = arguments.once;
  options.say = [](const std::string& line) { log_info(line); };
  options.listening = [](const debug::Endpoint& at) {
    // The JVM's own words, for which IDEs look.
    std::printf("Listening for transport dt_socket at address: %s\n", at.text().c_str());
    std::fflush(stdout);
  };
  return options;
}

Result<> debug_target(const DebugArguments& arguments, std::vector<std::string>& missing) {
  JTRACE_ASSIGN_OR_RETURN(debug::ServerOptions options, server_options(arguments));
  if (is_file_name(arguments.inspect.target) && (arguments.hold || arguments.no_stop))
    return fail(ErrorCategory::kUsage,
                std::string(arguments.hold ? "--hold" : "--no-stop") + " is for a live JVM: a core does not run");
  JTRACE_ASSIGN_OR_RETURN(const auto inspection, open_inspection(arguments.inspect));
  JTRACE_RETURN_IF_ERROR(coreinspect::check_not_redacted(inspection->target(), "contents for a debugger"));
  JTRACE_RETURN_IF_ERROR(inspection->healthy());
  const ScopedCancel cancel;
  options.stop_fd = cancel.fd();
  JTRACE_ASSIGN_OR_RETURN(const auto source, open_source(*inspection, arguments));
  JTRACE_RETURN_IF_ERROR(debug::serve_debuggers(*source, options));
  missing = source->missing();
  return {};
}

// Of a bundle its core.
Result<> debug_file(const DebugArguments& arguments, std::vector<std::string>& missing) {
  if (!is_file_name(arguments.inspect.target) || !diagnose::is_bundle(arguments.inspect.target))
    return debug_target(arguments, missing);
  JTRACE_ASSIGN_OR_RETURN(const TemporaryFile core, core_of_bundle(arguments.inspect.target));
  DebugArguments of_core = arguments;
  of_core.inspect.target = core.path();
  of_core.world.name = "the core in " + arguments.inspect.target;
  return debug_target(of_core, missing);
}

ExitStatus run(const DebugArguments& arguments) {
  std::vector<std::string> missing;
  const auto done = debug_file(arguments, missing);
  if (!done) return report(done.error());
  return missing.empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

}  // namespace

void add_debug_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<DebugArguments>();
  CLI::App* command = app.add_subcommand("debug", summary_of("debug"));
  command
      ->add_option("PID|CORE|BUNDLE", arguments->inspect.target,
                   "process id, part of a main class, a core file, or a bundle of jtrace diagnose with a core")
      ->required();
  auto* listen = command->add_option("--listen", arguments->listen,
                                     "address and port to listen on (127.0.0.1:0: a free port, which is printed)");
  command->add_option("--connect", arguments->connect, "the address of a debugger that listens, instead")
      ->excludes(listen);
  command->add_flag("--once", arguments->once, "end when the first debugger leaves");
  auto* hold = command->add_flag("--hold", arguments->hold, "stop a live JVM for as long as a debugger is connected");
  command
      ->add_flag("--no-stop", arguments->no_stop,
                 "copy only the stacks of a live JVM, and read its objects while it runs")
      ->excludes(hold);
  auto* max_stop =
      add_time(*command, "--max-stop", arguments->max_stop,
               "longest stop of a live JVM for the copy, or the stacks, that each debugger gets (200ms)", kStopRange);
  max_stop->excludes(hold);
  add_old_name(*command, max_stop, "--max-pause");
  add_time(*command, "--max-hold", arguments->max_hold, "longest time that --hold stops it (10m)",
           {.least = std::chrono::seconds(1), .most = std::chrono::hours(24)});
  command->add_flag("--virtual-threads", arguments->world.virtual_threads, "list virtual threads with the others");
  command->add_flag("--plain-values", arguments->world.plain_values,
                    "0 and null for values that are not available, instead of a text with the reason");
  command->add_option("--sysroot", arguments->inspect.files.sysroot,
                      "for a core: the folder below which mapped files are searched");
  command->add_option("--libjvm", arguments->inspect.files.libjvm,
                      "for a core: the libjvm.so that the process had mapped");
  command->footer(
      "Nothing can be changed and nothing runs. Whoever is connected reads all of the memory.\n"
      "Example: jtrace debug core.4711 --listen 127.0.0.1:5005, and in another window: jdb -attach 127.0.0.1:5005");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
