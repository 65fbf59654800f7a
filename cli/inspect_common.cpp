#include "cli/inspect_common.h"

#include <algorithm>
#include <cstdio>

#include "base/joined.h"
#include "cli/bundle_views.h"
#include "cli/heap_dump_file.h"
#include "cli/heap_output.h"
#include "cli/overwriting.h"
#include "cli/redacted_dump.h"
#include "cli/selector.h"
#include "cli/units.h"
#include "coreinspect/tools/snapshot_events.h"
#include "diagnose/bundle_file.h"
#include "session/document/trace_identity.h"
#include "target/elf_image.h"
#include "target/jvm_discovery.h"
#include "trace/file_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::cli {
bool is_file_name(const std::string& text) {
  if (text.find('/') != text.npos) return true;
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  return !number && ::access(text.c_str(), F_OK) == 0;
}

namespace {

// Of a core that has what was read so far, a wrong libjvm.so is not noticed.
void note_unused(const target::Target& target, const std::string& libjvm) {
  const std::string& own = target.libjvm().build_id();
  const auto given = target::ElfImage::open(libjvm);
  if (!given || own.empty() || given->build_id() == own) return;
  log_info("--libjvm " + libjvm + " is not used: its build id is " +
           (given->build_id().empty() ? "absent" : given->build_id()) + ", the core has " + own);
}

}  // namespace

Result<std::unique_ptr<coreinspect::Inspection>> open_inspection(const InspectArguments& arguments) {
  std::unique_ptr<target::Target> target;
  if (is_file_name(arguments.target)) {
    auto core = target::Target::open_core(arguments.target, arguments.files);
    if (!core && core.error().help.empty() && core.error().text == "this is not an ELF core")
      return fail(core.error().with_help(
          "a file is a core; inspect and heap take a heap dump too, inspect and diagnose a bundle"));
    JTRACE_ASSIGN_OR_RETURN(target, std::move(core));
  } else {
    JTRACE_ASSIGN_OR_RETURN(auto process, open_selected(arguments.target));
    JTRACE_ASSIGN_OR_RETURN(target, target::Target::open_process(std::move(process)));
  }
  auto inspection = coreinspect::Inspection::open(std::move(target));
  if (inspection && (*inspection)->target().core() && !arguments.files.libjvm.empty())
    note_unused((*inspection)->target(), arguments.files.libjvm);
  return inspection;
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

namespace {

void report_masked(std::size_t count) {
  if (count == 0) return;
  log_info(count == 1 ? "1 value is masked: --show-secrets shows it"
                      : std::to_string(count) + " values are masked: --show-secrets shows them");
}

}  // namespace

void write_missing(JsonWriter& json, bool complete, const std::vector<std::string>& missing) {
  json.member("complete", complete).key("missing").begin_array();
  for (const std::string& line : missing) json.value(line);
  json.end_array();
}

void write_target(JsonWriter& json, const coreinspect::Inspection& inspection) {
  const target::Target& target = inspection.target();
  json.begin_object();
  if (target.core()) json.member("kind", "core").member("path", target.core()->path()).member("nspid", target.nspid());
  else json.member("kind", "process").member("pid", target.process()->pid()).member("nspid", target.nspid());
  json.member("version", inspection.vm().release()).end_object();
}

void write_dump_target(JsonWriter& json, const std::string& path, const coreinspect::ObjectGraph& graph) {
  json.begin_object().member("kind", "heap dump").member("path", path).member("time", graph.file().millis());
  json.end_object();
}

namespace {

template <class WriteTarget>
void write_envelope(std::string& out, const std::string& view, const coreinspect::ViewResult& result,
                    WriteTarget&& write_target) {
  JsonWriter json(out);
  json.begin_object().member("view", view).key("target");
  write_target(json);
  write_missing(json, result.missing.empty(), result.missing);
  if (result.masked > 0) json.member("masked", result.masked);
  if (!result.members.empty()) out += "," + result.members;
  json.key("data");
  out += "[" + result.out + "]}\n";
}

}  // namespace

std::string view_document(const coreinspect::Inspection& inspection, const coreinspect::View& view,
                          const coreinspect::ViewResult& result) {
  std::string out;
  write_envelope(out, std::string(view.name), result, [&](JsonWriter& json) { write_target(json, inspection); });
  return out;
}

namespace {

Result<std::vector<std::string>> write_events(coreinspect::Inspection& inspection, const InspectArguments& arguments,
                                              const coreinspect::View& view, const coreinspect::ViewOptions& options) {
  if (view.parts == nullptr)
    return fail(ErrorCategory::kUsage,
                "the view " + std::string(view.name) + " has no elements of trace.dtd: text and json only",
                "docs/trace_format.md, \"Views\"");
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_whole_output(arguments.output));
  trace::XmlWriter xml(*bytes, {.single_trace = true});
  auto identity = identity_of(inspection, options.show_secrets);
  identity.agent_parameters = view.name;
  JTRACE_ASSIGN_OR_RETURN(const auto missing,
                          coreinspect::write_snapshot_events(inspection, xml, identity, view.parts(options), options));
  JTRACE_RETURN_IF_ERROR(xml.finish());
  auto lines = inspection.missing();
  lines.insert(lines.end(), missing.begin(), missing.end());
  return lines;
}

Result<std::vector<std::string>> write_view(coreinspect::Inspection& inspection, const InspectArguments& arguments,
                                            const coreinspect::View& view, const coreinspect::ViewOptions& options) {
  coreinspect::ViewOptions own = options;
  std::optional<HeapProgress>
      progress;  // constructed before the file and destroyed after it, so that no signal leaves a partial file
  // The graph is built after the JVM runs again, without a check for cancellation: a signal ends the program there.
  if (view.walks_heap && !coreinspect::uses_graph(view, own)) progress.emplace(own.heap);
  std::unique_ptr<trace::ByteSink> dump;
  if (view.writes_dump) {
    JTRACE_ASSIGN_OR_RETURN(dump, open_heap_dump(arguments.output));
    own.heap.dump = dump.get();
  }
  JTRACE_ASSIGN_OR_RETURN(auto result, view.run(inspection, own));
  if (view.writes_dump) JTRACE_RETURN_IF_ERROR(dump->finish());
  // Parts of the target that are missing are missing from every answer.
  for (const std::string& line : inspection.missing())
    if (std::find(result.missing.begin(), result.missing.end(), line) == result.missing.end())
      result.missing.push_back(line);
  std::string out;
  if (options.json) out = view_document(inspection, view, result);
  else out = std::move(result.out);
  if (view.writes_dump && arguments.output == "-") return std::move(result.missing);
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_whole_output(view.writes_dump ? "-" : arguments.output));
  JTRACE_RETURN_IF_ERROR(bytes->write(out));
  JTRACE_RETURN_IF_ERROR(bytes->finish());
  report_masked(result.masked);
  return std::move(result.missing);
}

std::string views_of_dumps() {
  std::vector<std::string> names;
  for (const coreinspect::View& view : coreinspect::views())
    if (view.of_graph) names.emplace_back(view.name);
  return joined(names);
}

Result<std::vector<std::string>> write_graph_view(const InspectArguments& arguments, const coreinspect::View& view) {
  if (view.writes_dump) return write_redacted_dump(arguments);
  if (!view.of_graph)
    return fail(ErrorCategory::kUsage, "a heap dump has no " + std::string(view.name), "it has " + views_of_dumps());
  if (arguments.format == "xml")
    return fail(ErrorCategory::kUsage, "a view of a heap dump has no elements of trace.dtd: text and json only");
  bool cut = false;
  JTRACE_ASSIGN_OR_RETURN(const auto graph, open_heap_graph(arguments.target, cut));
  coreinspect::ViewOptions options = arguments.options;
  options.json = arguments.format == "json";
  JTRACE_ASSIGN_OR_RETURN(auto result, view.of_graph(*graph, options));
  if (cut) result.missing.push_back("the compressed file ends too early, or its end is spoilt");
  std::string out;
  if (options.json)
    write_envelope(out, std::string(view.name), result,
                   [&](JsonWriter& json) { write_dump_target(json, arguments.target, *graph); });
  else out = std::move(result.out);
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_whole_output(arguments.output));
  JTRACE_RETURN_IF_ERROR(bytes->write(out));
  JTRACE_RETURN_IF_ERROR(bytes->finish());
  report_masked(result.masked);
  return std::move(result.missing);
}

ExitStatus finish(const Result<std::vector<std::string>>& missing, const std::string& what) {
  if (!missing) return report(missing.error().with_context(what));
  for (const std::string& line : *missing) log_info("missing: " + line);
  return missing->empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

}  // namespace

void add_inspect_options(CLI::App& command, InspectArguments& arguments) {
  command.add_option("--format", arguments.format, "text, json, or xml if the view has elements of trace.dtd")
      ->check(CLI::IsMember({"text", "json", "xml"}));
  command.add_option("-o,--output", arguments.output, "file to write; - is standard output (the default)");
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

ExitStatus run_view(const InspectArguments& arguments, const coreinspect::View& view) {
  const std::string what = std::string(view.name) + " of " + arguments.target;
  const Result<> good = refuse_overwriting(arguments.output, {arguments.target, arguments.files.libjvm});
  if (!good) return report(good.error());
  if (is_file_name(arguments.target) && diagnose::is_bundle(arguments.target)) return run_bundle_view(arguments, view);
  if (is_file_name(arguments.target) && is_heap_dump(arguments.target))
    return finish(write_graph_view(arguments, view), what);
  auto inspection = open_inspection(arguments);
  if (!inspection) return report(inspection.error());
  coreinspect::ViewOptions options = arguments.options;
  options.json = arguments.format == "json";
  options.max_stop = arguments.max_stop;
  const auto missing = arguments.format == "xml" || !view.run ? write_events(**inspection, arguments, view, options)
                                                              : write_view(**inspection, arguments, view, options);
  if (missing)
    for (const std::string& line : (*inspection)->vm().warnings()) log_info(line);
  return finish(missing, what);
}

}  // namespace jtrace::cli
