// ProfileOutput: where the samples of `jtrace profile` go: counted and written at the end, or each as a snapshot of a
// trace.
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
  // `head` as far as it is known now.
  virtual Result<> finish(const sampling::ProfileHead& head) = 0;
};

inline constexpr const char* kProfileFormats[] = {"text", "collapsed", "speedscope", "pprof", "html", "xml"};
// --format where it is given, else what the file's name says. Errors: kUsage for a name that says nothing.
Result<std::string> profile_format(const std::string& format, const std::string& output);
// `how`: for the document, "profile hz=99 cpu".
Result<std::unique_ptr<ProfileOutput>> open_profile_output(coreinspect::Inspection& inspection,
                                                           const std::string& format, const std::string& output,
                                                           const std::string& how);

}  // namespace jtrace::cli
