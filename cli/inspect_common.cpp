#include "cli/inspect_common.h"

#include <unistd.h>

#include "cli/one_of.h"
#include "cli/selector.h"
#include "cli/units.h"
#include "coreinspect/tools/snapshot_events.h"
#include "session/document/trace_identity.h"
#include "target/jvm_discovery.h"
#include "trace/file_sink.h"
#include "trace/io/document_kind.h"
#include "trace/io/profile_file.h"

namespace jtrace::cli {

bool is_file_name(const std::string& text) {
  if (text.find('/') != text.npos) return true;
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  return !number && ::access(text.c_str(), F_OK) == 0;
}

namespace {

bool may_be_trace(const std::string& path) {
  const auto first = trace::io::first_bytes(path);
  return first && trace::io::document_kind(*first) == trace::io::DocumentKind::kXml;
}

}  // namespace

Result<std::unique_ptr<coreinspect::Inspection>> open_inspection(const InspectArguments& arguments) {
  std::unique_ptr<target::Target> target;
  if (is_file_name(arguments.target)) {
    auto core = target::Target::open_core(arguments.target, arguments.files);
    if (!core && may_be_trace(arguments.target))
      return fail(core.error().with_help("a trace is read by jtrace stats, slow, exceptions, allocations and report"));
    JTRACE_ASSIGN_OR_RETURN(target, std::move(core));
  } else {
    JTRACE_ASSIGN_OR_RETURN(auto process, open_selected(arguments.target, Takes::kJvmOrFile));
    JTRACE_ASSIGN_OR_RETURN(target, target::Target::open_process(std::move(process)));
  }
  return coreinspect::Inspection::open(std::move(target));
}

void note_unused_option(const coreinspect::Inspection& inspection) {
  if (const std::string line = inspection.target().unused_option(); !line.empty()) log_info(line);
}

Result<std::unique_ptr<trace::ByteSink>> open_whole_output(const std::string& path) {
  if (path == "-") return std::make_unique<trace::FdSink>(STDOUT_FILENO, "standard output");
  JTRACE_ASSIGN_OR_RETURN(std::unique_ptr<trace::ByteSink> file,
                          trace::FileSink::create(path, {.visible_at_once = false}));
  return file;
}

// A live process has a host and a boot, as in session/document/trace_identity.h; a core has neither.
coreinspect::SnapshotIdentity identity_of(const coreinspect::Inspection& inspection, bool show_secrets) {
  auto identity = coreinspect::identify_target(inspection);
  const target::Process* process = inspection.target().process();
  if (!process) return identity;
  session::TraceOptions options;
  options.show_secrets = show_secrets;
  auto jvm = target::examine_jvm(*process);
  const auto live = session::identify(*process, jvm ? *jvm : target::Jvm(), options);
  identity.node_id = live.node_id;
  identity.hostname = live.hostname;
  identity.ip_addresses = live.ip_addresses;
  identity.boot_time = live.boot_time;
  identity.process_id = live.process_id;
  identity.process_name = live.process_name;
  identity.executable = live.executable;
  identity.process_time = live.process_time;
  identity.pid = live.pid;
  return identity;
}

void add_inspect_options(CLI::App& command, InspectArguments& arguments) {
  command
      .add_option(
          "--format", arguments.format,
          "text, json, csv or sqlite: its rows as a table; xml if the view has elements of trace.dtd; collapsed or "
          "speedscope: dominators by class, for a flame graph (default: by the name of the output, else text)")
      ->check(one_of({"text", "json", "csv", "sqlite", "collapsed", "speedscope", "xml"}))
      ->each([&arguments](const std::string&) { arguments.format_given = true; });
  command.add_option("-o,--output", arguments.output,
                     "file to write, in the format of its name (.json, .csv, .sqlite, ...); - is standard output (the "
                     "default)");
  command.add_option("--sysroot", arguments.files.sysroot,
                     "for a core: the folder below which mapped files are searched");
  command.add_option("--libjvm", arguments.files.libjvm, "for a core: the libjvm.so that the process had mapped");
}

CLI::Option* add_max_stop(CLI::App& command, InspectArguments& arguments, const std::string& help) {
  CLI::Option* option = add_time(command, "--max-stop", arguments.max_stop, help, kStopRange);
  option->each([&arguments](const std::string&) { arguments.options.heap.max_stop_given = true; });
  add_old_name(command, option, "--max-pause");
  return option;
}

CLI::Option* add_max_stop(CLI::App& command, InspectArguments& arguments) {
  return add_max_stop(command, arguments,
                      "longest time that a thread of a live target may be stopped (200ms); many threads are read in "
                      "batches");
}

}  // namespace jtrace::cli
