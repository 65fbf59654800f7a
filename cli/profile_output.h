// ProfileOutput: the destination of the samples of `jtrace profile`: they are counted and written at the end, or each
// becomes a snapshot of a trace.
#pragma once

#include <memory>
#include <string>

#include "cli/inspect_common.h"
#include "coreinspect/tools/thread_snapshot.h"
#include "sampling/profile_writers.h"

namespace jtrace::cli {

class ProfileOutput {
 public:
  virtual ~ProfileOutput() = default;
  // `time`: ns since the epoch; `weight`: ns.
  virtual Result<> take(const coreinspect::ThreadSnapshot& snapshot, std::uint64_t time, std::uint64_t weight) = 0;
  // `head`: what is known at the end.
  virtual Result<> finish(const sampling::ProfileHead& head) = 0;
};

inline constexpr const char* kProfileFormats[] = {"text", "collapsed", "speedscope", "pprof", "html", "svg", "xml"};
// --format if it is given, otherwise by the file's name. Errors: kUsage if the name does not tell.
Result<std::string> profile_format(const std::string& format, const std::string& output);
// `how`: text for the document, for example "profile hz=99 cpu".
Result<std::unique_ptr<ProfileOutput>> open_profile_output(coreinspect::Inspection& inspection,
                                                           const std::string& format, const std::string& output,
                                                           const std::string& how);

}  // namespace jtrace::cli
