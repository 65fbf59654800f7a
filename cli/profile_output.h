// ProfileOutput: the destination of the samples of `jtrace profile`: they are counted and written at the end, or each
// becomes a snapshot of a trace.
#pragma once

#include <memory>
#include <string>

#include "cli/inspect_common.h"
#include "coreinspect/tools/thread_snapshot.h"
#include "sampling/profile_writers.h"
#include "sampling/sampler.h"

namespace jtrace::cli {

class ProfileOutput {
 public:
  virtual ~ProfileOutput() = default;
  // All threads of a moment. `time`: ns since the epoch; `weight`: ns.
  virtual Result<> take(const coreinspect::ThreadSnapshot& snapshot, std::uint64_t time, std::uint64_t weight) = 0;
  // `time`: of the sample, ns since the epoch; `process`: its label.
  virtual Result<> take(const sampling::TakenSample& sample, std::uint64_t time, const std::string& process) = 0;
  // `head`: what is known at the end.
  virtual Result<> finish(const sampling::ProfileHead& head) = 0;
};

inline constexpr const char* kProfileFormats[] = {"text", "collapsed", "speedscope", "pprof",
                                                  "jfr",  "html",      "svg",        "xml"};
// --format if it is given, otherwise by the file's name. Errors: kUsage if the name does not tell.
Result<std::string> profile_format(const std::string& format, const std::string& output);
struct ProfilePlan {
  std::string format, output;  // `output` "": stdout
  std::string how;             // for a trace, for example "profile hz=99 cpu"
  sampling::ProfileCounts::Shape shape;
};
// `inspection`: the JVM of a trace (.xml), which has one.
Result<std::unique_ptr<ProfileOutput>> open_profile_output(coreinspect::Inspection& inspection,
                                                           const ProfilePlan& plan);

}  // namespace jtrace::cli
