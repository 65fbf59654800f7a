#include "cli/inspect_common.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/selector.h"

namespace jtrace::cli {
namespace {

// A path, or the name of an existing file that is not all digits; else a JVM.
bool is_core_name(const std::string& text) {
  if (text.find('/') != text.npos) return true;
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  return !number && ::access(text.c_str(), F_OK) == 0;
}

Result<std::unique_ptr<coreinspect::Inspection>> open(const InspectArguments& arguments) {
  std::unique_ptr<target::Target> target;
  if (is_core_name(arguments.target)) {
    JTRACE_ASSIGN_OR_RETURN(target, target::Target::open_core(arguments.target, arguments.files));
  } else {
    JTRACE_ASSIGN_OR_RETURN(auto process, open_selected(arguments.target));
    JTRACE_ASSIGN_OR_RETURN(target, target::Target::open_process(std::move(process)));
  }
  return coreinspect::Inspection::open(std::move(target));
}

void write_envelope(std::string& out, const coreinspect::Inspection& inspection, const std::string& view,
                    const coreinspect::ViewResult& result) {
  const target::Target& target = inspection.target();
  JsonWriter json(out);
  json.begin_object().member("view", view).key("target").begin_object();
  if (target.core()) json.member("kind", "core").member("path", target.core()->path()).member("nspid", target.nspid());
  else json.member("kind", "process").member("pid", target.process()->pid()).member("nspid", target.nspid());
  json.member("version", inspection.vm().release()).end_object();
  json.member("complete", result.missing.empty()).key("missing").begin_array();
  for (const std::string& line : result.missing) json.value(line);
  json.end_array().key("data");
  out += "[" + result.out + "]}\n";
}

}  // namespace

void add_inspect_options(CLI::App& command, InspectArguments& arguments) {
  command.add_option("--format", arguments.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command.add_option("--sysroot", arguments.files.sysroot, "of a core: where the files that were mapped are looked up");
  command.add_option("--libjvm", arguments.files.libjvm, "of a core: the libjvm.so that the process had mapped");
  command
      .add_option("--max-stop,--max-pause", arguments.max_stop_ms,
                  "longest time a live target may stand still, ms (200)")
      ->check(CLI::Range(1, 600'000));
}

ExitStatus run_view(const InspectArguments& arguments, const coreinspect::View& view) {
  auto inspection = open(arguments);
  if (!inspection) return report(inspection.error());
  coreinspect::ViewOptions options = arguments.options;
  options.json = arguments.format == "json";
  options.max_stop = std::chrono::milliseconds(arguments.max_stop_ms);
  const auto result = view.run(**inspection, options);
  if (!result) return report(result.error().with_context(std::string(view.name) + " of " + arguments.target));
  std::string out;
  if (options.json) write_envelope(out, **inspection, std::string(view.name), *result);
  else out = result->out;
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
  for (const std::string& line : (*inspection)->vm().warnings()) log_info(line);
  for (const std::string& line : result->missing) log_info("missing: " + line);
  return result->missing.empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

}  // namespace jtrace::cli
