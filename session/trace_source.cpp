#include "session/trace_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "base/temporary_file.h"
#include "base/unique_fd.h"
#include "session/recover.h"
#include "session/spill/spill_source.h"
#include "trace/record/layout.h"

namespace jtrace::session {

namespace io = trace::io;

namespace {

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
  JTRACE_ASSIGN_OR_RETURN(const auto recovered, recover(path, document.path()));
  JTRACE_ASSIGN_OR_RETURN(auto source, io::open_event_source(document.path(), faults, options));
  const bool whole = recovered.whole && recovered.malformed == 0;
  return std::unique_ptr<io::EventSource>(std::make_unique<RecoveredSource>(std::move(source), whole));
}

}  // namespace

Result<std::unique_ptr<io::EventSource>> open_trace_source(const std::string& path, io::FaultLog& faults,
                                                           io::OpenOptions options) {
  options.more.push_back({is_spill, [](std::unique_ptr<io::ByteSource> bytes, const std::string& name,
                                       io::FaultLog& log) { return open_spill(std::move(bytes), name, log); }});
  return path != "-" && is_pool(path) ? open_pool(path, faults, options) : io::open_event_source(path, faults, options);
}

}  // namespace jtrace::session
