#include "cli/bundle_views.h"

#include <cstdio>

#include "base/file.h"
#include "cli/answer_format.h"
#include "cli/view_run.h"
#include "diagnose/bundle_diff.h"
#include "trace/file_sink.h"

namespace jtrace::cli {
namespace {

using diagnose::BundleFile;

// Options change what a view shows: the bundle has it without.
bool is_plain(const InspectArguments& arguments) {
  const coreinspect::ViewOptions &given = arguments.options, plain;
  const coreinspect::HeapOptions &heap = given.heap, none;
  return given.all == plain.all && !given.bytes && !given.show_secrets && given.arguments.empty() && !given.stop &&
         heap.sort == none.sort && heap.filter.empty() && heap.top == 0 && !heap.by_loader && !heap.reachable &&
         heap.depth == 0 && heap.objects.empty();
}

// A bundle may come from anybody: nothing in it reaches a terminal as a control character.
std::string harmless(std::string text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == 0x7f) c = '?';
  return text;
}

Result<> print(const std::string& text, const std::string& output) {
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_whole_output(output));
  JTRACE_RETURN_IF_ERROR(bytes->write(text));
  return bytes->finish();
}

Result<std::vector<std::string>> show_stored(const BundleFile& bundle, const std::string& name,
                                             const InspectArguments& arguments) {
  JTRACE_ASSIGN_OR_RETURN(const std::string document, bundle.text("views/" + name + ".json"));
  JTRACE_ASSIGN_OR_RETURN(const JsonValue value, bundle.json("views/" + name + ".json"));
  std::string text;
  if (arguments.format == "text") {
    JTRACE_ASSIGN_OR_RETURN(text, bundle.text("views/" + name + ".txt"));
  } else {
    JTRACE_ASSIGN_OR_RETURN(text, formatted(document, arguments.format, arguments.output));
  }
  if (arguments.format != "sqlite") text = harmless(std::move(text));
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_answer(arguments.output));
  JTRACE_RETURN_IF_ERROR(bytes->write(text));
  JTRACE_RETURN_IF_ERROR(bytes->finish());
  std::vector<std::string> missing;
  for (const JsonValue& line : value["missing"].items()) missing.push_back(printable(line.text()));
  return missing;
}

// What the manifest says why a view is not there.
std::string why_not_there(const BundleFile& bundle, const std::string& name) {
  for (const JsonValue& step : bundle.manifest()["steps"].items())
    if (step["step"].text() == "view " + name && !step["why"].text().empty())
      return ": it could not be read: " + printable(step["why"].text());
  return "";
}

Result<TemporaryFile> core_as_file(const BundleFile& bundle) {
  JTRACE_ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::make("bundle", "jvm.core"));
  JTRACE_ASSIGN_OR_RETURN(const std::string core, bundle.text("jvm.core"));
  JTRACE_RETURN_IF_ERROR(print(core, file.path()));
  return file;
}

Result<ExitStatus> show_from_core(const BundleFile& bundle, const InspectArguments& arguments,
                                  const coreinspect::View& view) {
  JTRACE_ASSIGN_OR_RETURN(const TemporaryFile file, core_as_file(bundle));
  InspectArguments of_core = arguments;
  of_core.target = file.path();
  return run_view(of_core, view);
}

Result<ExitStatus> show_view(const InspectArguments& arguments, const coreinspect::View& view) {
  JTRACE_ASSIGN_OR_RETURN(const BundleFile bundle, BundleFile::open(arguments.target));
  const std::string name(view.name);
  const bool stored = bundle.has("views/" + name + ".json") && arguments.format != "xml" && is_plain(arguments);
  if (!stored && bundle.has("jvm.core")) return show_from_core(bundle, arguments, view);
  if (arguments.format == "xml" || (!is_plain(arguments) && bundle.has("views/" + name + ".json")))
    return fail(ErrorCategory::kPartial,
                arguments.target + " has " + name + " as text and JSON, as it was then, without options",
                "a bundle made with --core has more");
  if (!stored)
    return fail(ErrorCategory::kPartial, arguments.target + " has no " + name + why_not_there(bundle, name),
                "it has " + bundle.views());
  JTRACE_ASSIGN_OR_RETURN(const auto missing, show_stored(bundle, name, arguments));
  for (const std::string& line : missing) log_info("missing: " + line);
  return missing.empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

Result<ExitStatus> show_verdict(const std::string& path, bool json) {
  JTRACE_ASSIGN_OR_RETURN(const BundleFile bundle, BundleFile::open(path));
  JTRACE_ASSIGN_OR_RETURN(const std::string text, bundle.text(json ? "findings.json" : "SUMMARY.txt"));
  JTRACE_RETURN_IF_ERROR(print(harmless(text), "-"));
  const double status = bundle.manifest()["status"].number();
  return status == 0 ? ExitStatus::kOk : status == 1 ? ExitStatus::kRefused : ExitStatus::kPartial;
}

Result<ExitStatus> compare(const std::string& before, const std::string& after, bool json) {
  JTRACE_ASSIGN_OR_RETURN(const BundleFile old_bundle, BundleFile::open(before));
  JTRACE_ASSIGN_OR_RETURN(const BundleFile new_bundle, BundleFile::open(after));
  JTRACE_ASSIGN_OR_RETURN(const auto diff, diagnose::compare(old_bundle, new_bundle));
  JTRACE_RETURN_IF_ERROR(print(json ? diagnose::json_of(diff) : diagnose::text_of(diff), "-"));
  if (diff.found) return ExitStatus::kRefused;
  return diff.missing.empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

ExitStatus end_of(const Result<ExitStatus>& status) { return status ? *status : report(status.error()); }

}  // namespace

Result<TemporaryFile> core_of_bundle(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const BundleFile bundle, BundleFile::open(path));
  if (!bundle.has("jvm.core"))
    return fail(ErrorCategory::kPartial, path + " has no core", "jtrace diagnose PID -o FILE.zip --core puts one in");
  return core_as_file(bundle);
}

ExitStatus run_bundle_view(const InspectArguments& arguments, const coreinspect::View& view) {
  return end_of(show_view(arguments, view));
}
ExitStatus show_bundle_verdict(const std::string& path, bool json) { return end_of(show_verdict(path, json)); }
ExitStatus compare_bundles(const std::string& before, const std::string& after, bool json) {
  return end_of(compare(before, after, json));
}

}  // namespace jtrace::cli
