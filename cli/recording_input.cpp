#include "cli/recording_input.h"

#include "base/log.h"
#include "cli/trace_input.h"
#include "trace/io/document_kind.h"
#include "trace/io/profile_file.h"
#include "trace/io/recorded_with.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

Result<io::Recording> read_trace(const std::string& path, const std::string& name) {
  io::FaultLog faults = warnings(false);
  JTRACE_ASSIGN_OR_RETURN(const TraceParts opened, open_parts({path}, faults, {}));
  const auto collector = io::make_report_collector();
  io::OptionsSink options(*collector);
  JTRACE_ASSIGN_OR_RETURN(const io::ReadSummary summary, opened.source->read(options));
  JTRACE_RETURN_IF_ERROR(collector->finish());
  io::Recording made = io::recording_of(*collector, name);
  made.made = options.recorded_with();
  const auto lacks = lacks_of(name, summary, {.parts = opened.missing});
  made.missing.insert(made.missing.begin(), lacks.begin(), lacks.end());
  if (made.begins_later)
    log_warning(name + ": begins where another file of the trace ends; what came before is not in it");
  return made;
}

}  // namespace

Result<std::optional<io::StackProfile>> read_only_profile(const std::vector<std::string>& inputs) {
  if (inputs.size() != 1 || inputs.front() == "-") return std::optional<io::StackProfile>();
  return io::read_profile(inputs.front());
}

Result<std::optional<io::StackProfile>> read_profile_document(const std::vector<std::string>& inputs) {
  if (inputs.size() != 1 || inputs.front() == "-") return std::optional<io::StackProfile>();
  JTRACE_ASSIGN_OR_RETURN(const std::string first, io::first_bytes(inputs.front()));
  if (!io::may_be_snapshot(first)) return std::optional<io::StackProfile>();
  JTRACE_ASSIGN_OR_RETURN(io::Recording recording, read_trace(inputs.front(), inputs.front()));
  if (recording.kind != "profile") return std::optional<io::StackProfile>();
  return std::optional<io::StackProfile>(std::move(recording.stacks));
}

Result<io::Recording> read_recording(const std::string& path, const std::string& called) {
  const std::string& name = called.empty() ? path : called;
  if (path == "-") return read_trace(path, name);
  JTRACE_ASSIGN_OR_RETURN(auto profile, io::read_profile(path));
  if (profile) return io::recording_of(std::move(*profile), name);
  JTRACE_ASSIGN_OR_RETURN(const std::string first, io::first_bytes(path));
  if (io::document_kind(first) != io::DocumentKind::kAnswer) return read_trace(path, name);
  JTRACE_ASSIGN_OR_RETURN(const std::string text, io::read_unpacked(path));
  const auto json = JsonValue::parse(text);
  if (!json) return fail(json.error().with_context(name));
  auto made = io::recording_of(*json, name);
  if (!made) return fail(made.error().with_context(name));
  return std::move(*made);
}

}  // namespace jtrace::cli
