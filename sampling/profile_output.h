// ProfileOutput: a profile in one of its formats: samples are counted and written at the end, or each becomes an event
// of a recording or a snapshot of a trace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coreinspect/tools/snapshot_events.h"
#include "coreinspect/tools/thread_snapshot.h"
#include "sampling/profile_writers.h"
#include "sampling/sampler.h"
#include "trace/byte_sink.h"

namespace jtrace::sampling {

class ProfileOutput {
 public:
  virtual ~ProfileOutput() = default;
  // All threads of a moment. `time`: ns since the epoch; `weight`: ns.
  virtual Result<> take(const coreinspect::ThreadSnapshot& snapshot, std::uint64_t time, std::uint64_t weight) = 0;
  // `time`: of the sample, ns since the epoch; `process`: its label.
  virtual Result<> take(const TakenSample& sample, std::uint64_t time, const std::string& process) = 0;
  // `head`: what is known at the end.
  virtual Result<> finish(const ProfileHead& head) = 0;
};

inline constexpr const char* kProfileFormats[] = {"text", "json", "collapsed", "speedscope", "pprof",
                                                  "jfr",  "html", "svg",       "xml"};
// The format that a file's name says; "" if it says none.
std::string_view profile_format_of(std::string_view file_name);

// Any format but xml, which is a trace of one JVM. `limits`: of each table of text.
Result<std::unique_ptr<ProfileOutput>> make_profile_output(std::string_view format, ProfileCounts::Shape shape,
                                                           TableLimits limits, std::unique_ptr<trace::ByteSink> bytes);
// xml. `inspection`: borrowed.
Result<std::unique_ptr<ProfileOutput>> make_profile_trace(coreinspect::Inspection& inspection,
                                                          coreinspect::SnapshotIdentity identity,
                                                          std::unique_ptr<trace::ByteSink> bytes);

}  // namespace jtrace::sampling
