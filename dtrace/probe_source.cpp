#include "dtrace/probe_source.h"

#include <array>

#include "dtrace/bpf_source.h"
#include "dtrace/perf_source.h"

namespace jtrace::dtrace {
namespace {

Result<std::unique_ptr<ProbeSource>> open_one(BackEnd back_end, const target::Process& process, const Libjvm& libjvm,
                                              const std::vector<TracedSite>& sites, const SourceOptions& options) {
  if (back_end == BackEnd::kPerf) return open_perf_source(process, libjvm, sites, options);
  return open_bpf_source(process, libjvm, sites, options, back_end == BackEnd::kUprobeMulti);
}

}  // namespace

std::string_view to_string(BackEnd back_end) {
  switch (back_end) {
    case BackEnd::kUprobeMulti: return "uprobe_multi";
    case BackEnd::kPerfBpf: return "perf_bpf";
    case BackEnd::kPerf: return "perf";
    default: return "automatic";
  }
}

Result<std::unique_ptr<ProbeSource>> ProbeSource::open(const target::Process& process, const Libjvm& libjvm,
                                                       const std::vector<TracedSite>& sites,
                                                       const SourceOptions& options) {
  if (options.back_end != BackEnd::kAutomatic) return open_one(options.back_end, process, libjvm, sites, options);
  std::string reason;
  Result<std::unique_ptr<ProbeSource>> opened;
  for (const BackEnd back_end : {BackEnd::kUprobeMulti, BackEnd::kPerfBpf, BackEnd::kPerf}) {
    opened = open_one(back_end, process, libjvm, sites, options);
    if (opened) {
      (*opened)->reason_ = reason;
      return opened;
    }
    reason += (reason.empty() ? "" : "; ") + std::string(to_string(back_end)) + ": " + opened.error().message();
  }
  Error error = opened.error();
  error.text = "cannot trace probes: " + reason;
  error.errnum = 0;
  error.help.clear();
  if (exit_status(opened.error()) == ExitStatus::kPermission) error.category = ErrorCategory::kPermission;
  return fail(std::move(error));
}

}  // namespace jtrace::dtrace
