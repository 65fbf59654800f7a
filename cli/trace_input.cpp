#include "cli/trace_input.h"

#include <unistd.h>

#include <cstdio>

#include "base/clock.h"
#include "base/log.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "cli/heap_dump_file.h"
#include "session/trace_source.h"
#include "trace/io/ended_source.h"
#include "trace/io/trace_parts.h"

namespace jtrace::cli {

namespace io = trace::io;

namespace {

// The percentage read, once a second, if stderr is a terminal.
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
  if (path != "-" && is_heap_dump(path))
    return fail(ErrorCategory::kUsage, path + " is a heap dump, not a trace",
                "jtrace heap " + shell_word(path) + " VIEW looks into it: histogram, retained, leaks");
  io::OpenOptions open{.strict = options.strict, .repair_utf8 = options.repair_utf8};
  if (options.progress && ::isatty(STDERR_FILENO) != 0) {
    auto progress = std::make_shared<Progress>(path);
    open.progress = [progress](std::uint64_t consumed, std::uint64_t size) { progress->at(consumed, size); };
  }
  JTRACE_ASSIGN_OR_RETURN(auto source, session::open_trace_source(path, faults, std::move(open)));
  return options.judges_ends ? std::move(source) : io::watch_for_the_end(std::move(source), path, options.strict);
}

namespace {

// For the heads of inputs, whose faults are reported when they are read completely.
auto quietly(const TraceInputOptions& options) {
  return [faults = std::make_shared<io::FaultLog>(), repair = options.repair_utf8](const std::string& path) {
    return open_trace(path, *faults, {.repair_utf8 = repair, .progress = false});
  };
}

}  // namespace

Result<TraceParts> open_parts(const std::vector<std::string>& paths, io::FaultLog& faults,
                              const TraceInputOptions& options,
                              const std::function<void(const std::string&)>& on_part) {
  TraceParts parts;
  parts.name = paths.front();
  if (paths.size() == 1) {
    JTRACE_ASSIGN_OR_RETURN(parts.source, open_trace(paths.front(), faults, options));
    return parts;
  }
  JTRACE_ASSIGN_OR_RETURN(auto agent, io::read_one_agent(paths, quietly(options)));
  for (const std::string& missing : agent.missing) {
    if (options.strict) return fail(ErrorCategory::kMalformed, missing);
    log_warning(missing);
  }
  parts.missing = !agent.missing.empty();
  parts.name += " and " + std::to_string(paths.size() - 1) + " more";
  parts.source = std::make_unique<io::PartsSource>(
      std::move(agent), [&faults, options](const std::string& path) { return open_trace(path, faults, options); },
      on_part);
  return parts;
}

Result<std::vector<std::vector<std::string>>> group_inputs(const std::vector<std::string>& paths,
                                                           const TraceInputOptions& options) {
  return io::group_parts(paths, quietly(options));
}

io::FaultLog warnings(bool strict) {
  return io::FaultLog({.strict = strict, .repeats = io::FaultLog::Repeats::kOncePerName, .print = log_warning});
}

void note_missing(io::Statistics& statistics, const io::ReadSummary& summary, bool lacks_parts) {
  if (summary.truncated) statistics.note_missing("the input is cut off after " + counted(summary.elements, "element"));
  if (lacks_parts) statistics.note_missing("parts of the trace are missing");
}

std::vector<std::string> lacks_of(const std::string& path, const io::ReadSummary& summary, const InputLoss& loss) {
  std::vector<std::string> lines;
  if (summary.truncated)
    lines.push_back(path + ": truncated after " + counted(summary.elements, "element") +
                    "; everything before was used");
  if (loss.parts) lines.push_back(path + ": parts of the trace are missing");
  for (const std::string& line : io::lines_of(loss.losses)) lines.push_back(path + ": " + line);
  return lines;
}

ExitStatus report_input(const std::string& path, const io::ReadSummary& summary, const io::FaultLog& faults,
                        const InputLoss& loss) {
  if (faults.total() > faults.printed() || faults.total() > 1) {
    std::string text;
    for (const auto& [kind, count] : faults.counts())
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    log_warning(path + ": " + text);
  }
  const auto lines = lacks_of(path, summary, loss);
  for (const std::string& line : lines) log_info("missing: " + line);
  return lines.empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

}  // namespace jtrace::cli
