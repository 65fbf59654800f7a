#include "cli/trace_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/temporary_file.h"
#include "session/recover.h"
#include "session/spill/spill_source.h"
#include "trace/io/open_source.h"
#include "trace/io/trace_parts.h"
#include "trace/record/layout.h"

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

// The ring memory of a killed trace.
bool is_pool(const std::string& path) {
  char magic[sizeof trace::record::kPoolMagic];
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return fd && ::pread(fd.get(), magic, sizeof magic, 0) == sizeof magic &&
         std::memcmp(magic, trace::record::kPoolMagic, sizeof magic) == 0;
}

// The recovered document as a source; what it lacks is treated as cut off.
class RecoveredSource final : public io::EventSource {
 public:
  RecoveredSource(std::unique_ptr<io::EventSource> document, bool whole)
      : document_(std::move(document)), whole_(whole) {}
  Result<io::ReadSummary> read(trace::EventSink& sink) override {
    auto summary = document_->read(sink);
    if (summary) summary->truncated = summary->truncated || !whole_;
    return summary;
  }
  io::Position position() const override { return document_->position(); }

 private:
  std::unique_ptr<io::EventSource> document_;
  bool whole_;
};

Result<std::unique_ptr<io::EventSource>> open_pool(const std::string& path, io::FaultLog& faults,
                                                   const io::OpenOptions& options) {
  // Its name is gone when the source has opened it.
  JTRACE_ASSIGN_OR_RETURN(const TemporaryFile document, TemporaryFile::make("pool", "document.xml"));
  JTRACE_ASSIGN_OR_RETURN(const auto recovered, session::recover(path, document.path()));
  JTRACE_ASSIGN_OR_RETURN(auto source, io::open_event_source(document.path(), faults, options));
  const bool whole = recovered.whole && recovered.malformed == 0;
  return std::unique_ptr<io::EventSource>(std::make_unique<RecoveredSource>(std::move(source), whole));
}

}  // namespace

Result<std::unique_ptr<io::EventSource>> open_trace(const std::string& path, io::FaultLog& faults,
                                                    const TraceInputOptions& options) {
  io::OpenOptions open{.strict = options.strict, .repair_utf8 = options.repair_utf8};
  open.more.push_back(
      {session::is_spill, [](std::unique_ptr<io::ByteSource> bytes, const std::string& name, io::FaultLog& log) {
         return session::open_spill(std::move(bytes), name, log);
       }});
  if (options.progress && ::isatty(STDERR_FILENO) != 0) {
    auto progress = std::make_shared<Progress>(path);
    open.progress = [progress](std::uint64_t consumed, std::uint64_t size) { progress->at(consumed, size); };
  }
  return path != "-" && is_pool(path) ? open_pool(path, faults, open) : io::open_event_source(path, faults, open);
}

namespace {

// Only the head of each is read here; its faults are reported when it is read completely.
Result<std::vector<io::TracePart>> heads_of(const std::vector<std::string>& paths, const TraceInputOptions& options) {
  std::vector<io::TracePart> heads;
  for (const std::string& path : paths) {
    if (path == "-") {
      heads.push_back({.name = path, .agent = {}, .trace = {}, .continues = {}});
      continue;
    }
    io::FaultLog unprinted;
    JTRACE_ASSIGN_OR_RETURN(const auto source,
                            open_trace(path, unprinted, {.repair_utf8 = options.repair_utf8, .progress = false}));
    JTRACE_ASSIGN_OR_RETURN(auto head, io::read_part_head(*source, path));
    heads.push_back(std::move(head));
  }
  return heads;
}

tl::unexpected<Error> not_one_trace(const std::vector<io::AgentParts>& agents) {
  const auto name = [](const io::AgentParts& agent) { return agent.traces.front().front().name; };
  return fail(ErrorCategory::kUsage, name(agents[0]) + " and " + name(agents[1]) + " are not parts of one trace",
              "jtrace merge makes one document of several traces");
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
  JTRACE_ASSIGN_OR_RETURN(auto heads, heads_of(paths, options));
  JTRACE_ASSIGN_OR_RETURN(auto agents, io::order_parts(std::move(heads), false));
  if (agents.size() != 1) return not_one_trace(agents);
  for (const std::string& missing : agents.front().missing) {
    if (options.strict) return fail(ErrorCategory::kMalformed, missing);
    log_warning(missing);
  }
  parts.missing = !agents.front().missing.empty();
  parts.name += " and " + std::to_string(paths.size() - 1) + " more";
  parts.source = std::make_unique<io::PartsSource>(
      std::move(agents.front()),
      [&faults, options](const std::string& path) { return open_trace(path, faults, options); }, on_part);
  return parts;
}

Result<std::vector<std::vector<std::string>>> group_inputs(const std::vector<std::string>& paths,
                                                           const TraceInputOptions& options) {
  std::vector<std::vector<std::string>> groups;
  JTRACE_ASSIGN_OR_RETURN(auto heads, heads_of(paths, options));
  JTRACE_ASSIGN_OR_RETURN(const auto agents, io::order_parts(std::move(heads), true));
  for (const io::AgentParts& agent : agents) {
    if (agent.is_rotated()) groups.emplace_back();
    for (const auto& trace : agent.traces)
      for (const io::TracePart& part : trace) {
        if (!agent.is_rotated()) groups.emplace_back();
        groups.back().push_back(part.name);
      }
  }
  return groups;
}

io::FaultLog warnings(bool strict) {
  return io::FaultLog({.strict = strict, .repeats = io::FaultLog::Repeats::kOncePerName, .print = log_warning});
}

void note_missing(io::Statistics& statistics, const io::ReadSummary& summary, bool lacks_parts) {
  if (summary.truncated) statistics.note_missing("the input is cut off after " + counted(summary.elements, "element"));
  if (lacks_parts) statistics.note_missing("parts of the trace are missing");
}

ExitStatus report_input(const std::string& path, const io::ReadSummary& summary, const io::FaultLog& faults) {
  if (faults.total() > faults.printed() || faults.total() > 1) {
    std::string text;
    for (const auto& [kind, count] : faults.counts())
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    log_warning(path + ": " + text);
  }
  if (!summary.truncated) return ExitStatus::kOk;
  log_warning(path + ": truncated after " + counted(summary.elements, "element") + "; everything before was used");
  return ExitStatus::kPartial;
}

}  // namespace jtrace::cli
