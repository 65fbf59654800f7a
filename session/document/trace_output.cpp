#include "session/document/trace_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "trace/file_sink.h"
#include "trace/io/compress_sink.h"

namespace jtrace::session {
namespace {

constexpr std::uint64_t kRotationMargin = 64u << 10;  // room for one event with its definitions, and the end

constexpr std::uint64_t kEventMargin = 8u << 10;  // the same when little room is left
constexpr std::uint64_t kPartMargin = 24u << 10;  // room for what is in a chunk of the pool

constexpr std::size_t kFirstRecords = 4096;  // the head of a document

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// What must stay free: the user's value, otherwise a share of the file system.
std::uint64_t min_free_of(const TraceOptions& options, const std::string& path) {
  if (options.min_free) return *options.min_free;
  struct statvfs info {};
  if (::statvfs(folder_of(path).c_str(), &info) != 0) return 0;
  const std::uint64_t size = std::uint64_t{info.f_blocks} * info.f_frsize;
  return std::min<std::uint64_t>(size / 100 * options.min_free_percent, options.min_free_most);
}

}  // namespace

Result<std::unique_ptr<TraceOutput>> TraceOutput::open(const std::string& path, const TraceOptions& options) {
  std::unique_ptr<TraceOutput> output(new TraceOutput(path, options));
  if (path != "-") {
    struct stat info {};
    const bool exists = ::stat(path.c_str(), &info) == 0;
    output->is_file_ = !exists || S_ISREG(info.st_mode);
    if (options.rotate != 0 && !output->is_file_)
      return fail(ErrorCategory::kUsage, path + " is not a regular file: it cannot be rotated");
    JTRACE_RETURN_IF_ERROR(output->open_sinks());
    output->remove_if_unused_ = !exists;
    // Finds a full disk now, before the agent is in the JVM.
    if (output->destination_->reserve(kFirstRecords) == nullptr) return fail(*output->destination_->status());
  } else {
    JTRACE_RETURN_IF_ERROR(output->open_sinks());
  }
  return output;
}

trace::XmlWriterOptions xml_options(const TraceOptions& options) {
  trace::XmlWriterOptions xml;
  if (options.strict_dtd) xml.form = trace::XmlForm::kStrictFragments;
  else if (options.fragments) xml.form = trace::XmlForm::kFragments;
  if (options.classic_names) xml.names = trace::XmlNames::kClassic;
  if (options.doctype) xml.doctype = "jtrace.dtd";
  return xml;
}

TraceOutput::~TraceOutput() {
  if (remove_if_unused_) ::unlink(path_.c_str());
}

Result<> TraceOutput::open_sinks() {
  if (path_ == "-") {
    bytes_ = std::make_unique<trace::FdSink>(STDOUT_FILENO, "standard output");
  } else {
    trace::FileSinkOptions file{.min_free = min_free_of(options_, path_)};
    if (options_.rotate == 0) file.max_size = options_.max_size;
    JTRACE_ASSIGN_OR_RETURN(bytes_, trace::FileSink::create(path_, file));
  }
  destination_ = bytes_.get();
  JTRACE_ASSIGN_OR_RETURN(bytes_, trace::io::compressing(std::move(bytes_), trace::io::compression_of_name(path_),
                                                         trace::io::Framing::kEachFlush));
  bytes_->set_give_up(give_up_);
  if (options_.spills()) return {};
  trace::XmlWriterOptions xml = xml_options(options_);
  xml.single_trace = !options_.writes_fragments();
  writer_ = std::make_unique<trace::XmlWriter>(*bytes_, xml);
  set_watcher(watcher_);
  return {};
}

void TraceOutput::set_watcher(trace::EventSink* watcher) {
  watcher_ = watcher;
  watched_.reset();
  if (watcher_ != nullptr && writer_) watched_.emplace(std::vector<trace::EventSink*>{writer_.get(), watcher_});
}

void TraceOutput::set_give_up(std::function<bool()> give_up) {
  give_up_ = std::move(give_up);
  bytes_->set_give_up(give_up_);
}

Result<> TraceOutput::begin() {
  remove_if_unused_ = false;
  return writer_ ? writer_->begin() : Result<>();
}

bool TraceOutput::is_nearly_full(std::uint64_t reserve) const {
  if (options_.max_size == 0) return false;
  const std::uint64_t size = destination_->bytes_written();
  if (options_.rotate != 0)
    return size + reserve + kRotationMargin >= options_.max_size && size >= head_size_ + kRotationMargin;
  const std::uint64_t margin = options_.spills() ? kPartMargin : kEventMargin;
  return size + reserve + margin + trace::FileSink::closing_reserve(options_.max_size) >= options_.max_size;
}

void TraceOutput::head_is_written() { head_size_ = destination_->bytes_written(); }

Result<> TraceOutput::next_document(std::uint32_t keep) {
  if (!is_file_) return fail(ErrorCategory::kRefused, path_ + " is not a regular file: it takes one document");
  earlier_bytes_ += destination_->bytes_written();
  head_size_ = 0;
  for (std::uint32_t number = keep; number > 0; --number) {
    const std::string from = number == 1 ? path_ : path_ + "." + std::to_string(number - 1);
    const std::string to = path_ + "." + std::to_string(number);
    if (::rename(from.c_str(), to.c_str()) != 0 && (number == 1 || errno != ENOENT))
      return fail(system_error("moving a finished document to " + to, from));
  }
  JTRACE_RETURN_IF_ERROR(open_sinks());
  return begin();
}

}  // namespace jtrace::session
