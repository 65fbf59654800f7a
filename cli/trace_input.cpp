#include "cli/trace_input.h"

#include <unistd.h>

#include <cstdio>

#include "base/clock.h"
#include "base/log.h"
#include "trace/io/open_source.h"

namespace jtrace::cli {

namespace io = trace::io;

namespace {

// Percent read, once a second, where a person watches.
class Progress {
 public:
  explicit Progress(std::string path) : path_(std::move(path)), next_(monotonic_ns() + kNanosPerSecond) {}
  ~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void at(std::uint64_t consumed, std::uint64_t size) {
    const std::uint64_t now = monotonic_ns();
    if (now < next_) return;
    next_ = now + kNanosPerSecond / 4;
    shown_ = true;
    if (size != 0)
      std::fprintf(stderr, "\r\033[Kreading %s: %d %%", path_.c_str(), static_cast<int>(consumed * 100 / size));
    else
      std::fprintf(stderr, "\r\033[Kreading %s: %llu MB", path_.c_str(),
                   static_cast<unsigned long long>(consumed / 1'000'000));
  }

 private:
  std::string path_;
  std::uint64_t next_;
  bool shown_ = false;
};

}  // namespace

Result<std::unique_ptr<io::EventSource>> open_trace(const std::string& path, io::FaultLog& faults,
                                                    const TraceInputOptions& options) {
  io::OpenOptions open{.strict = options.strict, .repair_utf8 = options.repair_utf8};
  if (options.progress && ::isatty(STDERR_FILENO) != 0) {
    auto progress = std::make_shared<Progress>(path);
    open.progress = [progress](std::uint64_t consumed, std::uint64_t size) { progress->at(consumed, size); };
  }
  return io::open_event_source(path, faults, open);
}

io::FaultLog warnings(bool strict) {
  return io::FaultLog({.strict = strict, .say = io::FaultLog::Say::kOncePerName, .print = log_warning});
}

ExitStatus say_input(const std::string& path, const io::ReadSummary& summary, const io::FaultLog& faults) {
  if (faults.total() > faults.said() || faults.total() > 1) {
    std::string text;
    for (const auto& [kind, count] : faults.counts())
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    log_warning(path + ": " + text);
  }
  if (!summary.truncated) return ExitStatus::kOk;
  log_warning(path + ": truncated after " + std::to_string(summary.elements) + " elements; everything before was used");
  return ExitStatus::kPartial;
}

}  // namespace jtrace::cli
