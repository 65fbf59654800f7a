// ProbeSource: the hits of chosen probe sites in one process, from a back end of the kernel.
//
// Back ends, in the order in which open() tries them:
//   uprobe_multi   BPF, one link for all sites (Linux 6.6; earlier than 6.11 it saw one thread only and is not used)
//   perf_bpf       BPF, a perf event for each site (Linux 5.15)
//   perf           perf events alone: no BPF; texts are read later from the running process
// User space writes nothing into the process; the kernel inserts its breakpoints and removes them when the descriptors
// are closed, also if this process is killed. Ownership: owns the descriptors. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dtrace/libjvm.h"
#include "dtrace/probe_program.h"
#include "target/process.h"
#include "target/registers.h"

namespace jtrace::dtrace {

struct ProbeText {
  std::string_view text;  // modified UTF-8, as in the JVM
  bool cut = false;       // longer than kLongestText
  bool missing = false;   // it could not be read
};

// Registers and stack of a thread in a probe.
struct CopiedStack {
  target::Registers registers;
  std::uint64_t start = 0;       // address of the first byte
  std::vector<std::byte> bytes;  // as far as it could be copied, at most kStackPages
};

// One hit. Valid until the function to which it is passed returns.
struct ProbeRecord {
  std::uint32_t site = 0;  // index into the sites of open()
  std::uint32_t tid = 0;   // kernel's id of the thread, in this process's pid namespace
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  std::span<const std::uint64_t> operands;
  std::span<const ProbeText> texts;    // by operand; a text is at the index of its pointer
  const CopiedStack* stack = nullptr;  // if the site copies it
};
using RecordFunction = std::function<Result<>(const ProbeRecord&)>;

struct MethodHits {
  MethodKey method;
  std::uint64_t count = 0;
};

enum class BackEnd : std::uint8_t { kAutomatic, kUprobeMulti, kPerfBpf, kPerf };
std::string_view to_string(BackEnd back_end);

struct SourceOptions {
  BackEnd back_end = BackEnd::kAutomatic;
  std::uint64_t ring_size = 16u << 20;  // bytes; rounded up to a power of two
};

class ProbeSource {
 public:
  // `libjvm` and `sites` are borrowed and must outlive the source. Errors: those of the last back end tried, with the
  // reasons why the others failed.
  static Result<std::unique_ptr<ProbeSource>> open(const target::Process& process, const Libjvm& libjvm,
                                                   const std::vector<TracedSite>& sites, const SourceOptions& options);
  virtual ~ProbeSource() = default;

  // Passes the hits that have arrived to `function`, in the order of time, except those of the last moments (with
  // `all`: all). An error of `function` ends it and is returned.
  virtual Result<> drain(const RecordFunction& function, bool all) = 0;
  // Removes the probes; earlier hits can still be drained.
  virtual void detach() = 0;
  // By site.
  virtual Result<std::vector<SiteCounters>> counters() = 0;

  // For sites that count methods, in no order. Complete once the source is detached.
  virtual Result<std::vector<MethodHits>> method_hits() = 0;

  virtual BackEnd back_end() const = 0;
  // Why this back end was chosen: "", or which ones were tried before and failed.
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

}  // namespace jtrace::dtrace
